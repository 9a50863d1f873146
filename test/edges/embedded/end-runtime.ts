import { existsSync } from 'node:fs';
import { probeCgroups } from '../../../src/runtime/embedded/confinement/cgroup.js';
import { instanceOf, type Instance } from '../../../src/runtime/embedded/machine/instance.js';
import { endOrphans } from '../../../src/runtime/embedded/confinement/orphans.js';
import { sendSignal } from '../../../src/processes/send-signal.js';
import { eventually, processesWith } from './runtime-under-test.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/**
 * Ends the runtime of the state directory, and everything that runtimes there have started, by name, group and mark; no runtime has to
 * live. A test needs `instance` if it removes the directory.
 */
export const endRuntime = async (
  stateDirectory: string,
  instance = existsSync(stateDirectory) ? instanceOf(stateDirectory) : undefined,
): Promise<void> => {
  await endNamed(stateDirectory);
  if (instance) await endUnnamed(instance);
};

const endNamed = (stateDirectory: string): Promise<true> =>
  eventually(`no process of ${stateDirectory} is left`, () => {
    const left = processesWith(stateDirectory);
    for (const pid of left) sendSignal(pid, 'SIGKILL');
    return left.length === 0 ? (true as const) : undefined;
  });

const endUnnamed = (instance: Instance): Promise<void> => {
  const none: ReadonlySet<string> = new Set();
  return endOrphans({ instance, cgroups: probeCgroups(), sandboxIds: none, marks: none, log: silent });
};
