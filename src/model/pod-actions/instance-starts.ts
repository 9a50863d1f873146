import { Map as ImmutableMap } from 'immutable';

/** The start of an instance by this agent, in the scheduler's milliseconds. */
export interface InstanceStart {
  readonly containerId: string;
  /** When the runtime had answered: the instance ran by then. Absent before, and after an error. */
  readonly answeredAt?: number;
}

/** The newest start of each container by this agent, by the UID of the pod. */
export type InstanceStarts = ImmutableMap<string, PodStarts>;

/** The newest start of each container of a pod. */
export interface PodStarts {
  /** The id of the newest instance, by the name of the container. */
  readonly newest: ImmutableMap<string, string>;
  readonly byId: ImmutableMap<string, InstanceStart>;
}

const NONE: PodStarts = { newest: ImmutableMap(), byId: ImmutableMap() };

export const withStart = (
  starts: InstanceStarts,
  uid: string,
  container: string,
  start: InstanceStart,
): InstanceStarts => {
  const { newest, byId } = starts.get(uid, NONE);
  const before = newest.get(container);
  return starts.set(uid, {
    newest: newest.set(container, start.containerId),
    byId: (before === undefined ? byId : byId.delete(before)).set(start.containerId, start),
  });
};

/** Returns the start of an instance; undefined for one that an earlier agent has started. */
export const startOf = (starts: InstanceStarts, uid: string, containerId: string): InstanceStart | undefined =>
  starts.get(uid, NONE).byId.get(containerId);
