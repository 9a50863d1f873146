import type { Invariant } from './monitor.js';

const WINDOW_MS = 60_000;
/** A container that fails on every sync is tried about once in 10 s; further wakes of its worker come on top. */
const MOST = 40;
const COUNTED: ReadonlySet<string> = new Set([
  ...['RunPodSandbox', 'StopPodSandbox', 'RemovePodSandbox', 'CreateContainer', 'StartContainer', 'StopContainer'],
  ...['RemoveContainer', 'PullImage'],
]);

export const noCallStorm: Invariant = {
  name: 'no-call-storm',
  rule: `No call with an effect is made more than ${MOST} times a minute for the same container.`,
  source: 'docs/timing.md',
  watch: (truth) => {
    const recent = new Map<string, number[]>();
    return {
      on: (event) => {
        if (event.kind !== 'call' || !COUNTED.has(event.call)) return undefined;
        const { uid, container, sandboxId, image } = truth.subject(event);
        const key = `${event.call} ${uid} ${container ?? sandboxId ?? image}`;
        const times = recent.get(key) ?? [];
        while (times.length > 0 && times[0]! <= event.at - WINDOW_MS) times.shift();
        times.push(event.at);
        recent.set(key, times);
        if (times.length !== MOST + 1) return undefined;
        return [
          {
            uid,
            container,
            message: `${event.call} was called ${times.length} times in a minute (expected ${MOST} at most)`,
          },
        ];
      },
    };
  },
};
