import { UNKNOWN_END } from '../runtime/container.js';
import type { Finding, Invariant } from './monitor.js';
import type { InstanceTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';

const FIRST_MS = 10_000;

export const onlyCrashesWait: Invariant = {
  name: 'only-crashes-wait',
  rule: 'Another agent puts off a restart only for a container that ended by itself, in a sandbox that runs, and only for as long as the crashes before make it.',
  source: 'the rule is ours: docs/decisions.md',
  watch: (truth, { maxRestartBackOffMs }) => {
    /** Instances of pods that an agent was stopping as a whole when it asked for their ends. */
    const stopped = new Set<string>();
    const firstMs = Math.min(FIRST_MS, maxRestartBackOffMs);
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'call' && event.call === 'StopContainer') {
          const { uid = '', containerId = '' } = truth.subject(event);
          if (truth.pods.get(uid)?.pass?.work !== 'sync') stopped.add(containerId);
        }
        if (event.kind !== 'journal' || event.entry.kind !== 'back-off' || event.entry.from !== 'runtime')
          return undefined;
        const { entry } = event;
        const { uid = '' } = entry.pod ?? {};
        const container = entry.container ?? '';
        const pod = truth.pods.get(uid);
        const ends = pod?.instances.filter((one) => one.container === container && one.exitedAt !== undefined) ?? [];
        const last = ends.at(-1);
        if (!last) return undefined;
        const problem = whyNoCrash(truth, last, stopped);
        if (problem !== undefined) return [{ uid, container, message: `waits after an end that ${problem}` }];
        const crashes = ends.slice(0, -1).filter((one) => whyNeverACrash(truth, one, stopped) === undefined).length;
        const mostMs = crashes === 0 ? 0 : Math.min(firstMs * 2 ** (crashes - 1), maxRestartBackOffMs);
        if (entry.delayMs <= mostMs) return undefined;
        const message = `waits ${entry.delayMs} ms after ${crashes} crashes (expected ${mostMs} ms at most)`;
        return [{ uid, container, message }];
      },
    };
  },
};

/** Why the end did not come by itself, at any time; undefined if it may have. */
const whyNeverACrash = (
  { sandboxes }: WorldTruth,
  { containerId, sandboxId, exitCode, exitedAt = 0 }: InstanceTruth,
  stopped: ReadonlySet<string>,
): string | undefined => {
  if (exitCode === UNKNOWN_END.exitCode) return 'has an unknown cause';
  if (stopped.has(containerId)) return 'the agent has asked for';
  return (sandboxes.get(sandboxId)?.stoppedAt ?? Infinity) <= exitedAt ? 'its sandbox has brought' : undefined;
};

/** The same for an agent that has read the runtime in this life: a sandbox that had stopped before is not ready to it. */
const whyNoCrash = (truth: WorldTruth, instance: InstanceTruth, stopped: ReadonlySet<string>): string | undefined => {
  const stoppedAt = truth.sandboxes.get(instance.sandboxId)?.stoppedAt ?? Infinity;
  if (stoppedAt < truth.lifeSince) return 'came before its sandbox ended, in another life';
  return whyNeverACrash(truth, instance, stopped);
};
