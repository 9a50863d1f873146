import { Map as ImmutableMap, OrderedSet, Set as ImmutableSet } from 'immutable';
import { retainKeys, retainMembers } from '../values/retain.js';
import { updated } from '../values/updated.js';

/** The postStart hooks that have not succeeded yet. */
export interface DueHooks {
  /** By the UID of the pod, the ids of its running containers with such a hook. */
  readonly due: ImmutableMap<string, OrderedSet<string>>;
  /** The UIDs of the pods whose hooks of an earlier agent have been read from the disk. */
  readonly known: ImmutableSet<string>;
}

export const NO_HOOKS: DueHooks = { due: ImmutableMap(), known: ImmutableSet() };

/** Adds the hooks of an earlier agent; `containerIds` may be empty. */
export const hooksFound = (hooks: DueHooks, uid: string, containerIds: readonly string[]): DueHooks =>
  containerIds.reduce((found, id) => hookBegun(found, uid, id), updated(hooks, { known: hooks.known.add(uid) }));

export const hookBegun = (hooks: DueHooks, uid: string, containerId: string): DueHooks =>
  updated(hooks, { due: hooks.due.set(uid, hooks.due.get(uid, NONE).add(containerId)) });

/** Removes a hook that has succeeded, or whose container has ended. */
export const hookEnded = (hooks: DueHooks, uid: string, containerId: string): DueHooks => {
  const left = hooks.due.get(uid, NONE).delete(containerId);
  return updated(hooks, { due: left.isEmpty() ? hooks.due.delete(uid) : hooks.due.set(uid, left) });
};

/** Forgets all other pods. */
export const retainHooks = (hooks: DueHooks, uids: ReadonlySet<string>): DueHooks =>
  updated(hooks, { due: retainKeys(hooks.due, uids), known: retainMembers(hooks.known, uids) });

const NONE = OrderedSet<string>();

/** What can be asked about the hooks. */
export interface DueHooksView {
  /** Whether the hooks of an earlier agent have been read from the disk. */
  readonly isKnown: (uid: string) => boolean;
  /** Whether the container has a hook that has not succeeded. */
  readonly has: (uid: string, containerId: string) => boolean;
  /** The ids of the pod's containers with such a hook. */
  readonly of: (uid: string) => readonly string[];
}

/** Returns a view that shows the hooks as they are whenever it is asked. */
export const dueHooksView = (now: () => DueHooks): DueHooksView => ({
  isKnown: (uid) => now().known.has(uid),
  has: (uid, containerId) => now().due.get(uid, NONE).has(containerId),
  of: (uid) => [...now().due.get(uid, NONE)],
});
