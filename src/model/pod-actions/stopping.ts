import type { RuntimeContainerStatus } from '../pleg/runtime-pod.js';
import { type Container, containersOf, type EphemeralContainer, isSidecar, type Pod } from '../pod/pod.js';
import { allNamed } from '../values/indexed-lists.js';
import type { KillReason } from './pod-actions.js';

/** An instance to stop, with the specification of its container; undefined if the pod has no such container any more. */
export interface StopTarget {
  readonly instance: RuntimeContainerStatus;
  readonly container: Container | EphemeralContainer | undefined;
}

export interface StopOrder {
  /** They stop side by side. */
  readonly first: readonly StopTarget[];
  /** Sidecars, one turn after the other. A turn has the instances of one sidecar, and at least one of them. */
  readonly turns: readonly (readonly StopTarget[])[];
}

/**
 * Returns the order in which the containers of a pod stop: sidecars last, in the reverse order of the spec. An instance of an unknown state
 * may run, and ends in the eyes of the runtime only when it is stopped; upstream leaves it.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_termination_order.go
 */
export const stopOrder = (pod: Pod, containers: readonly RuntimeContainerStatus[]): StopOrder => {
  const specs = new Map(containersOf(pod).map(({ container }) => [container.name, container]));
  const sidecarNames = (pod.spec.initContainers ?? []).filter(isSidecar).map(({ name }) => name);
  const isSidecarName = new Set(sidecarNames);
  const running = containers.filter(({ state }) => state === 'running' || state === 'unknown');
  const target = (instance: RuntimeContainerStatus): StopTarget => ({ instance, container: specs.get(instance.name) });
  return {
    first: running.filter(({ name }) => !isSidecarName.has(name)).map(target),
    turns: sidecarNames
      .toReversed()
      .map((name) => allNamed(running, name).map(target))
      .filter((turn) => turn.length > 0),
  };
};

/** Whether a container that is killed for this reason has failed by itself: its end counts as a crash. */
export const isFailure = (reason: KillReason | undefined): boolean =>
  reason === 'LivenessProbe' || reason === 'StartupProbe';
