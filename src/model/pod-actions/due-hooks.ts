import { Map as ImmutableMap, OrderedSet, Set as ImmutableSet } from 'immutable';
import type { RuntimeContainerStatus } from '../pleg/runtime-pod.js';
import { type Container, containersOf, type EphemeralContainer, type Pod } from '../pod/pod.js';
import { directoryNameOf } from '../pod/pod-paths.js';
import type { PodActions } from './pod-actions.js';
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

export const hasPostStart = (pod: Pod): boolean =>
  containersOf(pod).some(({ container }) => container.lifecycle?.postStart !== undefined);

type Instances = readonly Pick<RuntimeContainerStatus, 'id' | 'state'>[];

/**
 * Returns the ids of the containers whose hook may still be due. A container in an unknown state may be running, and the runtime may still
 * start one that it has created, as an earlier agent requested.
 */
export const idsNotExited = (containers: Instances): readonly string[] =>
  containers.filter(({ state }) => state !== 'exited').map(({ id }) => id);

/** Returns the ids among `due` whose container has exited, or is gone. */
export const hooksOver = (due: readonly string[], containers: Instances): readonly string[] => {
  const left = new Set(idsNotExited(containers));
  return due.filter((id) => !left.has(id));
};

/** The marks of an earlier agent: the ids of the containers whose hook is due, and the marks of all other containers. */
export interface HookMarks {
  readonly due: readonly string[];
  readonly stale: readonly string[];
}

/** Sorts the names in the directory of marks by the containers of the pod. */
export const sortHookMarks = (marks: readonly string[], containers: Instances): HookMarks => {
  const marked = new Set(marks);
  const ids = idsNotExited(containers);
  const names = new Set(ids.map(directoryNameOf));
  return {
    due: ids.filter((id) => marked.has(directoryNameOf(id))),
    stale: marks.filter((mark) => !names.has(mark)),
  };
};

/** A running container that stays, and whose postStart hook has not ended: the agent was restarted, or could not kill it. */
export interface DueHook {
  readonly id: string;
  readonly container: Container | EphemeralContainer;
}

/**
 * Returns the hooks that a sync with these actions runs again: those of the containers that it neither kills nor removes. `isDue` is whether
 * the hook of a container has not succeeded.
 */
export const hooksToRepeat = (
  pod: Pod,
  containers: readonly Pick<RuntimeContainerStatus, 'id' | 'name' | 'state'>[],
  {
    killPod,
    containersToKill,
    containersToReset,
  }: Pick<PodActions, 'killPod' | 'containersToKill' | 'containersToReset'>,
  isDue: (containerId: string) => boolean,
): readonly DueHook[] => {
  if (killPod) return [];
  const ends = new Set([...containersToKill, ...containersToReset].map(({ id }) => id));
  // The first of a name counts.
  const byName = new Map(
    containersOf(pod)
      .toReversed()
      .map(({ container }) => [container.name, container]),
  );
  return containers
    .filter(({ id, state }) => state === 'running' && isDue(id) && !ends.has(id))
    .flatMap(({ id, name }) => {
      const container = byName.get(name);
      return container ? [{ id, container }] : [];
    });
};
