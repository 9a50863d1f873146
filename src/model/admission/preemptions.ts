import { Map as ImmutableMap, Set as ImmutableSet } from 'immutable';
import type { Pod } from '../pod/pod.js';
import { retainKeys, retainMembers } from '../values/retain.js';
import { updated } from '../values/updated.js';

/** The pods that are stopped to make room, and those that wait for that. */
export interface Preemptions {
  /** The UIDs of the pods that were chosen. */
  readonly victims: ImmutableSet<string>;
  /** By the UID of a pod that was admitted: what it waits for before it starts. */
  readonly waits: ImmutableMap<string, RoomWait>;
}

export interface RoomWait {
  readonly pods: readonly Pod[];
  /** The time of the admission, in the scheduler's milliseconds. */
  readonly since: number;
}

export const NO_PREEMPTIONS: Preemptions = { victims: ImmutableSet(), waits: ImmutableMap() };

/** The pod `uid` is admitted, and waits for these pods, of which `victims` were chosen just now. */
export const withRoomWait = (
  { victims, waits }: Preemptions,
  uid: string,
  wait: RoomWait & { readonly victims: readonly string[] },
): Preemptions => ({
  victims: victims.union(wait.victims),
  waits: waits.set(uid, { pods: wait.pods, since: wait.since }),
});

/** The pod waits no longer. */
export const withoutRoomWait = (before: Preemptions, uid: string): Preemptions =>
  updated(before, { waits: before.waits.delete(uid) });

/** The pod begins a new life under its UID. */
export const withoutPreemption = (before: Preemptions, uid: string): Preemptions =>
  updated(before, { victims: before.victims.delete(uid), waits: before.waits.delete(uid) });

/** Keeps what is about these pods. */
export const retainPreemptions = (before: Preemptions, uids: ReadonlySet<string>): Preemptions =>
  updated(before, { victims: retainMembers(before.victims, uids), waits: retainKeys(before.waits, uids) });
