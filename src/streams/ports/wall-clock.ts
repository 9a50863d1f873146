/**
 * The Unix time of the runtime and the API, in milliseconds. It may jump, so it is only compared with times from outside; waits
 * and ages are measured by the scheduler.
 */
export type WallClock = () => number;
