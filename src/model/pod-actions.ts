import type { PlannedAction } from './journal.js';
import type { Container } from './pod.js';

/** Why a single container is killed; a probe of that name may bring a grace period of its own. */
export type KillReason = 'DefinitionChanged' | 'LivenessProbe' | 'StartupProbe' | 'Resize' | 'Unknown' | 'Superseded';

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
  /** It has not exited: stop it with the shortest grace period first. */
  readonly kill: boolean;
}

/** What one sync does to a pod, in the order in which it is done: kill, reset, create, then start. */
export interface PodActions {
  /** Kill every running container and stop all sandboxes. Then `containersToKill` has nothing to say. */
  readonly killPod: boolean;
  readonly createSandbox: boolean;
  /** The sandbox that stays, or the one that goes; empty when there is none to speak of. */
  readonly sandboxId: string;
  /** Of the sandbox to create, or of the one that stays. */
  readonly attempt: number;
  /** Names, in the order of the spec. */
  readonly initContainersToStart: readonly string[];
  /** Names, in the order of the spec. */
  readonly containersToStart: readonly string[];
  /** Names, in the order of the spec. */
  readonly ephemeralContainersToStart: readonly string[];
  readonly containersToKill: readonly ContainerToKill[];
  readonly containersToReset: readonly ContainerToReset[];
  /** Why each of the above, and why what stays stays. */
  readonly reasons: readonly PlannedAction[];
}

/** What probes found out about running instances, by container id; `undefined` while there is no result yet. */
export interface ProbeResults {
  readonly liveness: (containerId: string) => ProbeVerdict | undefined;
  readonly startup: (containerId: string) => ProbeVerdict | undefined;
}
export type ProbeVerdict = 'success' | 'failure';

/** Whether a running instance has to be restarted to get the resources that its spec asks for now. */
export type NeedsResizeRestart = (containerId: string) => boolean;
