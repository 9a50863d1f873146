import type { RecordedCall } from './open-calls.js';

/** Calls that take less time count as instant, as in the simulated runtime. */
export const USUAL_CALL_MS = 20;
/** Without a slow call for this long, what came before delays nothing any more. */
const REST_MS = 500;
/** Calls whose duration is the runtime's, or the pod's: a simulation has them as they were. */
const SIMULATED_DURATIONS = [
  ...['runtime.runPodSandbox', 'runtime.stopPodSandbox', 'runtime.startContainer', 'runtime.stopContainer'],
  ...['runtime.execSync', 'runtime.containerEvents', 'images.pullImage'],
];

interface Interval {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * How much later than in a simulation a recorded machine can have been: the time in which calls of the runtime were open that a simulation
 * takes for instant, over the worst stretch of the recording. It is about 0.4 s where six pods start on an idle machine of two cores.
 */
export class SlowCalls {
  readonly #slow: Interval[] = [];

  ended({ port, at }: RecordedCall, now: number): void {
    const isOfRuntime = port.startsWith('runtime.') || port.startsWith('images.');
    if (!isOfRuntime || SIMULATED_DURATIONS.includes(port) || now - at <= USUAL_CALL_MS) return;
    this.#slow.push({ fromMs: at, untilMs: now });
  }

  /** In milliseconds. Calls that were open at the same time count once. */
  longestMs(): number {
    let [longestMs, stretchMs, endMs] = [0, 0, -Infinity];
    for (const { fromMs, untilMs } of this.#slow.toSorted((one, other) => one.fromMs - other.fromMs)) {
      if (fromMs - endMs > REST_MS) stretchMs = 0;
      stretchMs += Math.max(0, untilMs - Math.max(fromMs, endMs));
      endMs = Math.max(endMs, untilMs);
      longestMs = Math.max(longestMs, stretchMs);
    }
    return Math.round(longestMs);
  }
}
