import { Map as ImmutableMap } from 'immutable';
import type { AllocatedResources, Amounts } from '../pod/allocated-resources.js';
import type { Pod } from '../pod/pod.js';
import { retainKeys } from '../values/retain.js';
import { updated } from '../values/updated.js';

/** The amounts of the containers of a pod, by name, and of the pod as a whole, if its spec has some. */
export interface PodAmounts {
  readonly containers: Readonly<Record<string, Amounts>>;
  readonly pod?: Amounts | undefined;
}

/** What a pod was given by a resize. */
export interface Allocation extends PodAmounts {
  /** The version of the pod (`metadata.generation`) that asked for it; absent after a restart of the agent. */
  readonly generation?: number | undefined;
}

/** What an instance has since it was updated. */
export interface InstanceAmounts extends Amounts {
  /** Absent in a checkpoint of another kubelet. */
  readonly containerId?: string | undefined;
}

/** A resize that the node has not begun. */
export interface PendingResize {
  readonly reason: 'Deferred' | 'Infeasible';
  readonly message: string;
  /** The version of the pod that was tried. */
  readonly generation?: number | undefined;
  /** Unix milliseconds of the last try. */
  readonly triedAt: number;
}

/** What a pod has that was resized. */
export interface ActuatedPod {
  /** The amounts of instances that were updated since they were created, by container, inside their pod. */
  readonly containers: ImmutableMap<string, InstanceAmounts>;
  /** What the pod as a whole has; absent if that was never resized. */
  readonly pod?: Amounts | undefined;
}

/** What outlives the agent, in two checkpoints. */
export interface KeptAmounts {
  /**
   * By UID, the amounts on which the agent acts. A pod that was never resized has none here: it has those with which its containers were
   * created.
   */
  readonly allocated: ImmutableMap<string, Allocation>;
  /** By UID, what pods and their instances have, as far as they were resized. */
  readonly actuated: ImmutableMap<string, ActuatedPod>;
}

/** The resizes of the pods of a node. */
export interface PodResizes extends KeptAmounts {
  /** By UID. */
  readonly pending: ImmutableMap<string, PendingResize>;
  /** By UID, why the last step of a resize that has begun failed. */
  readonly failures: ImmutableMap<string, string>;
  /** The amounts as the checkpoints have them. */
  readonly saved: KeptAmounts;
}

const NOTHING_KEPT: KeptAmounts = { allocated: ImmutableMap(), actuated: ImmutableMap() };

export const NO_RESIZES: PodResizes = {
  ...NOTHING_KEPT,
  pending: ImmutableMap(),
  failures: ImmutableMap(),
  saved: NOTHING_KEPT,
};

/** The amounts of the containers of a pod, as its spec has them. */
export const amountsOfPod = ({ spec }: Pod): PodAmounts => ({
  containers: Object.fromEntries(
    [...(spec.initContainers ?? []), ...spec.containers].map(({ name, resources }) => [name, amountsOnly(resources)]),
  ),
  ...(spec.resources && { pod: amountsOnly(spec.resources) }),
});

export const amountsOnly = ({ requests, limits }: Amounts = {}): Amounts => ({
  ...(requests && { requests }),
  ...(limits && { limits }),
});

/** The same amounts, in the form in which a pod takes them. */
export const allocatedIn = ({ containers, pod }: PodAmounts): AllocatedResources => ({
  pod,
  container: (name) => containers[name],
});

/** The amounts that an earlier agent has kept. */
export const restoredResizes = (resizes: PodResizes, saved: KeptAmounts): PodResizes => ({
  ...resizes,
  ...saved,
  saved,
});

/** The pod acts on these amounts from now on. */
export const withAllocation = (resizes: PodResizes, uid: string, allocation: Allocation): PodResizes =>
  updated(resizes, {
    allocated: resizes.allocated.set(uid, allocation),
    pending: resizes.pending.delete(uid),
    failures: resizes.failures.delete(uid),
  });

export const withPending = (resizes: PodResizes, uid: string, pending: PendingResize): PodResizes =>
  updated(resizes, { pending: resizes.pending.set(uid, pending) });

/** The pod has what it asks for. */
export const withoutPending = (resizes: PodResizes, uid: string): PodResizes =>
  updated(resizes, { pending: resizes.pending.delete(uid) });

/** An instance was updated. */
export const withActuated = (
  resizes: PodResizes,
  uid: string,
  container: string,
  amounts: InstanceAmounts,
): PodResizes =>
  withActuatedPod(resizes, uid, ({ containers, pod }) => ({ containers: containers.set(container, amounts), pod }));

/** The pod as a whole has these amounts. */
export const withPodActuated = (resizes: PodResizes, uid: string, pod: Amounts): PodResizes =>
  withActuatedPod(resizes, uid, ({ containers }) => ({ containers, pod }));

/** A pod that gets other amounts as a whole has those of before, until it was given them. */
export const withPodBehind = (resizes: PodResizes, uid: string, before: Amounts): PodResizes =>
  resizes.actuated.get(uid)?.pod ? resizes : withPodActuated(resizes, uid, before);

const withActuatedPod = (resizes: PodResizes, uid: string, change: (before: ActuatedPod) => ActuatedPod): PodResizes =>
  updated(resizes, {
    actuated: resizes.actuated.set(uid, change(resizes.actuated.get(uid) ?? { containers: ImmutableMap() })),
  });

export const withFailedResize = (resizes: PodResizes, uid: string, error: string): PodResizes =>
  updated(resizes, { failures: resizes.failures.set(uid, error) });

/** The checkpoints have these amounts. */
export const withSaved = (resizes: PodResizes, saved: KeptAmounts): PodResizes => updated(resizes, { saved });

/** Keeps what is about these pods. The checkpoints follow when they are written next. */
export const retainResizes = (resizes: PodResizes, uids: ReadonlySet<string>): PodResizes =>
  updated(resizes, {
    allocated: retainKeys(resizes.allocated, uids),
    actuated: retainKeys(resizes.actuated, uids),
    pending: retainKeys(resizes.pending, uids),
    failures: retainKeys(resizes.failures, uids),
  });
