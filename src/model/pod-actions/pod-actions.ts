import type { PlannedAction } from '../journal/journal.js';
import type { ContainerUpdate } from '../resize/actuated.js';
import { type Container, type ContainerKind, containersOf, type EphemeralContainer, type Pod } from '../pod/pod.js';

/** Why a single container is killed; a probe of that name may bring a grace period of its own. */
export type KillReason = 'DefinitionChanged' | 'Resize' | 'LivenessProbe' | 'StartupProbe' | 'Unknown' | 'Superseded';

export interface ContainerToKill {
  readonly id: string;
  readonly name: string;
  readonly container: Container;
  /** Text of the Killing event. */
  readonly message: string;
  readonly reason: KillReason;
}

/** One instance to remove, with its logs kept, so that the next sync starts its container afresh. */
export interface ContainerToReset {
  readonly id: string;
  readonly name: string;
  readonly container: Container;
  /** The instance has not exited: stop it with the shortest grace period first. */
  readonly kill: boolean;
}

/** The actions of one sync of a pod, in their order: kill, reset, update, create, then start. */
export interface PodActions {
  /** Kill every running container and stop all sandboxes. Then `containersToKill` is ignored. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The sandbox that stays, or the one that goes; empty if there is none. */
  readonly sandboxId: string;
  /** The attempt of the sandbox to create, or of the one that stays. */
  readonly attempt: number;
  /** Names, in the order of the spec. */
  readonly initContainersToStart: readonly string[];
  /** Names, in the order of the spec. */
  readonly containersToStart: readonly string[];
  /** Names, in the order of the spec. */
  readonly ephemeralContainersToStart: readonly string[];
  readonly containersToKill: readonly ContainerToKill[];
  readonly containersToReset: readonly ContainerToReset[];
  /** The running containers that get other amounts of CPU and memory. */
  readonly containersToUpdate: readonly ContainerUpdate[];
  /** The reason of each action, and of each container that stays. */
  readonly reasons: readonly PlannedAction[];
}

/** Whether a sync with these actions changes the pod. */
export const hasWork = (actions: PodActions): boolean =>
  actions.killPod ||
  actions.createSandbox ||
  [
    actions.initContainersToStart,
    actions.containersToStart,
    actions.ephemeralContainersToStart,
    actions.containersToKill,
    actions.containersToReset,
    actions.containersToUpdate,
  ].some((list) => list.length > 0);

/** One container to start, with its specification. */
export interface StartStep {
  readonly kind: ContainerKind;
  readonly container: Container | EphemeralContainer;
}

/** Returns the containers to start in their order: ephemeral containers first, then init containers, then the regular ones. */
export const startSteps = (
  pod: Pod,
  actions: Pick<PodActions, 'initContainersToStart' | 'containersToStart' | 'ephemeralContainersToStart'>,
): readonly StartStep[] => {
  const all = containersOf(pod);
  const pick = (kind: ContainerKind, list: readonly string[]): readonly StartStep[] => {
    const names = new Set(list);
    return all.filter((entry) => entry.kind === kind && names.has(entry.container.name));
  };
  return [
    ...pick('ephemeral', actions.ephemeralContainersToStart),
    ...pick('init', actions.initContainersToStart),
    ...pick('regular', actions.containersToStart),
  ];
};

/** The results of probes for running instances, by container id; `undefined` before the first result. */
export interface ProbeResults {
  readonly liveness: (containerId: string) => ProbeVerdict | undefined;
  readonly startup: (containerId: string) => ProbeVerdict | undefined;
}
export type ProbeVerdict = 'success' | 'failure';
