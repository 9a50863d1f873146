import type { Map as ImmutableMap } from 'immutable';

/** The present time of both clocks, in milliseconds. */
export interface Moment {
  /** The scheduler's. */
  readonly now: number;
  /** Unix. */
  readonly wallNow: number;
}

/**
 * The starts of pods on this node, by UID. The time of day is read once for each start: a clock that is set later makes no pod older or
 * younger. A start in the future counts as now. (A kubelet compares the start time with the time of day at each check.)
 */
export type ActiveTimes = ImmutableMap<string, SeenPodStart>;

/** The start of a pod as it was first seen. */
export interface SeenPodStart {
  /** RFC 3339. */
  readonly startTime: string;
  /** The scheduler's milliseconds. */
  readonly at: number;
}

/** Remembers when this start was first seen. */
export const startSeen = (
  times: ActiveTimes,
  uid: string,
  startTime: string,
  { now, wallNow }: Moment,
): ActiveTimes => {
  if (times.get(uid)?.startTime === startTime) return times;
  return times.set(uid, { startTime, at: now - Math.max(0, wallNow - Date.parse(startTime)) });
};

/** Returns the milliseconds since this start of the pod, at `now` of the scheduler; undefined if it was not seen. */
export const activeMsOf = (
  times: ActiveTimes,
  uid: string,
  startTime: string | undefined,
  now: number,
): number | undefined => {
  const start = times.get(uid);
  return start?.startTime === startTime ? start && now - start.at : undefined;
};
