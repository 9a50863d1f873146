import { amountsOfInstance } from '../cri/labels.js';
import type { RuntimeContainerStatus } from '../pleg/runtime-pod.js';
import { newestStatusOf, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import { isSameAmount, type AllocatedResources, type Amounts } from '../pod/allocated-resources.js';
import { type Container, isSidecar, type Pod } from '../pod/pod.js';
import type { InstanceAmounts, KeptAmounts } from './pod-resizes.js';

/** What the instances of one pod were given since their creation, by the name of the container. */
export type ActuatedAmounts = (container: string) => InstanceAmounts | undefined;

/** What the instances of a pod were given since their creation, by the name of the container. */
export const actuatedIn =
  ({ actuated }: KeptAmounts, uid: string): ActuatedAmounts =>
  (container) =>
    actuated.get(uid)?.get(container);

/**
 * Returns what an instance has: what it was given last, or else what it was created with. Undefined for one that another kubelet has
 * created.
 */
export const amountsOfRunning = (
  { id, name, annotations }: RuntimeContainerStatus,
  actuated: ActuatedAmounts,
): Amounts | undefined => {
  const given = actuated(name);
  return given?.containerId === id ? given : (amountsOfInstance(annotations) ?? given);
};

/** A resource that can be resized. */
export type Resizable = 'cpu' | 'memory';
const RESIZABLE: readonly Resizable[] = ['cpu', 'memory'];

/** Whether two amounts differ in a resource. Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go */
export const differs = (one: Amounts, other: Amounts, resource: Resizable): boolean =>
  (['requests', 'limits'] as const).some((kind) => !isSameAmount(one[kind]?.[resource], other[kind]?.[resource]));

/** A running container that does not have the amounts of its spec. */
export interface ContainerUpdate {
  readonly id: string;
  readonly container: Container;
  /** What the instance has; undefined if another kubelet has created it. */
  readonly has: Amounts | undefined;
}

/** What a running instance needs to have the amounts of its container. */
export type InstanceResize =
  { readonly kind: 'restart' } | { readonly kind: 'update'; readonly update: ContainerUpdate };

/**
 * Returns how a running instance gets the amounts of its container; undefined if it has them. An instance of another kubelet, whose amounts
 * are not known, is updated without a restart.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodResizeAction
 */
export const instanceResize = (
  container: Container,
  instance: RuntimeContainerStatus,
  actuated: ActuatedAmounts,
): InstanceResize | undefined => {
  const has = amountsOfRunning(instance, actuated);
  const changed = has && RESIZABLE.filter((resource) => differs(container.resources ?? {}, has, resource));
  if (changed?.length === 0) return undefined;
  const needsRestart = (changed ?? []).some((resource) =>
    container.resizePolicy?.some((policy) => policy.resourceName === resource && policy.restartPolicy === RESTART),
  );
  return needsRestart ? { kind: 'restart' } : { kind: 'update', update: { id: instance.id, container, has } };
};

const RESTART = 'RestartContainer';

/**
 * Whether a running container does not have what the pod was given. Init containers that are no sidecars do not count.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go IsPodResizeInProgress
 */
export const isResizeInProgress = ({ spec }: Pod, status: RuntimePodStatus, actuated: ActuatedAmounts): boolean =>
  [...(spec.initContainers ?? []).filter(isSidecar), ...spec.containers].some((container) => {
    const instance = newestStatusOf(status, container.name);
    return instance?.state === 'running' && instanceResize(container, instance, actuated) !== undefined;
  });

/** The amounts of the running instances of a pod. */
export const amountsOfInstances = (status: RuntimePodStatus, actuated: ActuatedAmounts): AllocatedResources => ({
  pod: undefined,
  container: (name) => {
    const instance = newestStatusOf(status, name);
    return instance?.state === 'running' ? amountsOfRunning(instance, actuated) : undefined;
  },
});
