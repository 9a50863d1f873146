import type { Pod } from '../pod/pod.js';

interface PodSet {
  readonly pods: readonly Pod[];
}

/** The newest set of pods, and its way to the disk. Times are the scheduler's milliseconds. */
export interface PodsOnDisk<Known extends PodSet> {
  /** The last set that arrived; absent before the first one. */
  readonly newest?: Known;
  /** Whether `newest` waits for a write; false while it is written. */
  readonly isUnwritten: boolean;
  /** The UIDs of the last write that has ended. A failed write counts too, since waiting would not mend it. */
  readonly tried: ReadonlySet<string>;
  /** The start of the next write, unless a new pod waits. */
  readonly nextAt: number;
  /** The running write takes too long: pods that arrive do not wait. */
  readonly isLate: boolean;
}

export type PodsOnDiskEvent<Known extends PodSet> =
  | { readonly kind: 'arrived'; readonly known: Known }
  | { readonly kind: 'write-begun'; readonly nextAt: number }
  | { readonly kind: 'write-late' }
  | { readonly kind: 'written'; readonly known: Known }
  | { readonly kind: 'write-failed'; readonly known: Known; readonly nextAt: number };

/** The state before the first set. `onDisk`: the UIDs of the pods that are on disk to begin with. */
export const podsOnDisk = <Known extends PodSet>(onDisk: Iterable<string>): PodsOnDisk<Known> => ({
  isUnwritten: false,
  tried: new Set(onDisk),
  nextAt: -Infinity,
  isLate: false,
});

/** Returns the state after the event. After a failed write, the newest set is written again, whether it is another one or not. */
export const foldPodsOnDisk = <Known extends PodSet>(
  before: PodsOnDisk<Known>,
  event: PodsOnDiskEvent<Known>,
): PodsOnDisk<Known> => {
  switch (event.kind) {
    case 'arrived':
      return { ...before, newest: event.known, isUnwritten: true };
    case 'write-begun':
      return { ...before, isUnwritten: false, nextAt: event.nextAt };
    case 'write-late':
      return { ...before, isLate: true };
    case 'written':
      return { ...before, tried: uidsOf(event.known), isLate: false };
    case 'write-failed':
      return { ...before, tried: uidsOf(event.known), isLate: false, isUnwritten: true, nextAt: event.nextAt };
  }
};

/** Whether the set has a pod that no write has tried, and that the newest set still has. */
export const waitsForDisk = <Known extends PodSet>({ newest, tried }: PodsOnDisk<Known>, known: Known): boolean => {
  const untried = new Set([...uidsOf(known)].filter((uid) => !tried.has(uid)));
  return newest?.pods.some(({ metadata }) => untried.has(metadata.uid)) ?? false;
};

/** Whether the newest set waits for a write, and has a new pod. */
export const isWriteUrgent = <Known extends PodSet>(state: PodsOnDisk<Known>): boolean =>
  state.isUnwritten && state.newest !== undefined && waitsForDisk(state, state.newest);

/** Returns the time from `now` to the next write, in milliseconds; 0 for a write that is due or urgent. */
export const waitBeforeWrite = <Known extends PodSet>(state: PodsOnDisk<Known>, now: number): number =>
  isWriteUrgent(state) ? 0 : Math.max(0, state.nextAt - now);

const uidsOf = ({ pods }: PodSet): ReadonlySet<string> => new Set(pods.map(({ metadata }) => metadata.uid));
