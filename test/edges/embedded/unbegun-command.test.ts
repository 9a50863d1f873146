import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ContainerConfig, PodSandboxConfig } from '../../../src/generated/runtime/v1/api.js';
import { injectFaults } from '../../../src/runtime/embedded/machine/machine.js';
import {
  childrenOf,
  isAlive,
  type ProcessId,
  processId,
  sendSignal,
} from '../../../src/runtime/embedded/confinement/process-tree.js';
import { startEmbeddedRuntime } from '../../../src/runtime/embedded/server.js';
import { clientOf, runtimeCalls } from './runtime-under-test.js';

const DEADLINE_EXCEEDED = 4;
const TRIES = 20;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Stops the next shell that this process starts, in its first moment; says which, unless it has begun with its script. */
const stopNextShell = (): (() => ProcessId | undefined) => {
  const before = new Set(childrenOf(process.pid));
  let stopped: ProcessId | undefined;
  injectFaults((access, _operation, command) => {
    if (access !== 'spawn' || command !== '/bin/sh') return;
    injectFaults(null);
    setImmediate(() => {
      const pid = childrenOf(process.pid).find((child) => !before.has(child));
      if (pid === undefined || !sendSignal(pid, 'SIGSTOP')) return;
      if (childrenOf(pid).length === 0) stopped = processId(pid);
      else sendSignal(pid, 'SIGCONT');
    });
  });
  return () => stopped;
};

it('a command whose time is over before its shell has begun leaves no process', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'rx-unbegun-'));
  const socketPath = join(directory, 'rt.sock');
  const embedded = await startEmbeddedRuntime({ socketPath, stateDirectory: join(directory, 'state'), log: silent });
  const client = clientOf(socketPath);
  const runtime = runtimeCalls(client);
  const metadata = { name: 'pod', namespace: 'default', uid: 'uid-pod', attempt: 0 };
  const { podSandboxId } = await runtime.runPodSandbox({ config: PodSandboxConfig.fromPartial({ metadata }) });
  let relay: ProcessId | undefined;
  try {
    const config = ContainerConfig.fromPartial({
      metadata: { name: 'main', attempt: 0 },
      image: { image: 'host' },
      command: ['/bin/sh', '-c', 'exec sleep 100000'],
    });
    const { containerId } = await runtime.createContainer({ podSandboxId, config });
    await runtime.startContainer({ containerId });
    for (let tries = 0; relay === undefined; tries += 1) {
      if (tries === TRIES) throw new Error('no shell was stopped before it had begun');
      const stopped = stopNextShell();
      const call = runtime.execSync({ containerId, cmd: ['sleep', '100000'], timeout: 1n });
      await expect(call).rejects.toMatchObject({ code: DEADLINE_EXCEEDED });
      relay = stopped();
    }
    expect(isAlive(relay)).toBe(false);
  } finally {
    injectFaults(null);
    if (relay && isAlive(relay)) sendSignal(relay.pid, 'SIGKILL');
    await runtime.removePodSandbox({ podSandboxId });
    client.close();
    await embedded.close();
    rmSync(directory, { recursive: true, force: true });
  }
});
