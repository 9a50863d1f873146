/** A container that is not started now because it has to wait. A wait is a normal state of a container, not an error. */
export interface StartWait {
  readonly container: string;
  /** The waiting reason that the API status shows. */
  readonly reason: 'CrashLoopBackOff' | 'ImagePullBackOff';
  readonly message: string;
  /** The end of the wait, Unix milliseconds. Undefined for an image pull: the pod is synced again after the usual period. */
  readonly waitsUntil?: number | undefined;
}

/** The waits of all containers of a pod, as the result of a sync in which nothing failed. */
export interface PodWait {
  readonly message: string;
  /** The earliest end of a crash-loop wait, Unix milliseconds. */
  readonly waitsUntil?: number | undefined;
}

export const isStartWait = (value: object): value is StartWait => 'reason' in value && !(value instanceof Error);

/** Returns the earliest end among `waits`, Unix milliseconds; undefined without one. */
export const earliestEnd = (waits: readonly StartWait[]): number | undefined => {
  const ends = waits.map(({ waitsUntil }) => waitsUntil).filter((end) => end !== undefined);
  return ends.length > 0 ? Math.min(...ends) : undefined;
};
