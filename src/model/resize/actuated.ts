import { amountsOfInstance, podAmountsOfInstance } from '../cri/labels.js';
import type { RuntimeContainerStatus } from '../pleg/runtime-pod.js';
import { newestStatusOf, type RuntimePodStatus } from '../pleg/runtime-pod.js';
import { isSameAmount, type AllocatedResources, type Amounts } from '../pod/allocated-resources.js';
import { type Container, isSidecar, type Pod } from '../pod/pod.js';
import type { InstanceAmounts, KeptAmounts } from './pod-resizes.js';

/** What one pod has, as far as it was resized. */
export interface ActuatedAmounts {
  /** What the instance of a container was given since its creation. */
  readonly container: (name: string) => InstanceAmounts | undefined;
  /** What the pod as a whole has; undefined if that was never resized, or if another kubelet has made the pod. */
  readonly pod: Amounts | undefined;
}

/** A pod that was never resized. */
export const NOT_RESIZED: ActuatedAmounts = { container: () => undefined, pod: undefined };

export const actuatedIn = ({ actuated }: KeptAmounts, uid: string): ActuatedAmounts => {
  const given = actuated.get(uid);
  return { container: (name) => given?.containers.get(name), pod: given?.pod };
};

/**
 * Returns the amounts of a container inside its pod: where it has no limit of its own, that of the pod counts for it.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container_linux.go getCPULimit, getMemoryLimit
 */
const within = (pod: Amounts | undefined, own: Amounts = {}): Amounts => {
  const ofPod = RESIZABLE.flatMap((name) => {
    const limit = pod?.limits?.[name];
    return limit === undefined || own.limits?.[name] !== undefined ? [] : [[name, limit] as const];
  });
  return ofPod.length === 0 ? own : { ...own, limits: { ...own.limits, ...Object.fromEntries(ofPod) } };
};

/**
 * Returns what an instance has, inside its pod: what it was given last, or else what it was created with. Undefined for one that another
 * kubelet has created.
 */
export const amountsOfRunning = (
  { id, name, annotations }: RuntimeContainerStatus,
  actuated: ActuatedAmounts,
): Amounts | undefined => {
  const given = actuated.container(name);
  if (given?.containerId === id) return given;
  const created = amountsOfInstance(annotations);
  return created ? within(podAmountsOfInstance(annotations), created) : given;
};

/** What the status of a container shows of an instance: a limit that is the pod's is none of the container's. */
export const shownAmounts = (
  container: Container,
  instance: RuntimeContainerStatus,
  actuated: ActuatedAmounts,
): Amounts | undefined => {
  const has = amountsOfRunning(instance, actuated);
  if (!has?.limits) return has;
  const own = Object.entries(has.limits).filter(([name]) => container.resources?.limits?.[name] !== undefined);
  return { ...has, limits: Object.fromEntries(own) };
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
  /** With its amounts inside the pod. */
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
  pod: Pod,
  asGiven: Container,
  instance: RuntimeContainerStatus,
  actuated: ActuatedAmounts,
): InstanceResize | undefined => {
  const resources = within(pod.spec.resources, asGiven.resources);
  const container = resources === asGiven.resources ? asGiven : { ...asGiven, resources };
  const has = amountsOfRunning(instance, actuated);
  const changed = has && RESIZABLE.filter((resource) => differs(resources, has, resource));
  if (changed?.length === 0) return undefined;
  const needsRestart = (changed ?? []).some((resource) =>
    container.resizePolicy?.some((policy) => policy.resourceName === resource && policy.restartPolicy === RESTART),
  );
  return needsRestart ? { kind: 'restart' } : { kind: 'update', update: { id: instance.id, container, has } };
};

const RESTART = 'RestartContainer';

/** Whether the pod as a whole does not have what it was given. */
export const isPodBehind = ({ spec }: Pod, { pod }: ActuatedAmounts): boolean =>
  pod !== undefined && RESIZABLE.some((resource) => differs(spec.resources ?? {}, pod, resource));

/**
 * Whether the pod as a whole, or a running container, does not have what the pod was given. Init containers that are no sidecars do not
 * count.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go IsPodResizeInProgress
 */
export const isResizeInProgress = (pod: Pod, status: RuntimePodStatus, actuated: ActuatedAmounts): boolean =>
  isPodBehind(pod, actuated) ||
  [...(pod.spec.initContainers ?? []).filter(isSidecar), ...pod.spec.containers].some((container) => {
    const instance = newestStatusOf(status, container.name);
    return instance?.state === 'running' && instanceResize(pod, container, instance, actuated) !== undefined;
  });

/** The amounts of the pod as a whole, and of its running instances. */
export const amountsOfInstances = (status: RuntimePodStatus, actuated: ActuatedAmounts): AllocatedResources => ({
  pod: actuated.pod,
  container: (name) => {
    const instance = newestStatusOf(status, name);
    return instance?.state === 'running' ? amountsOfRunning(instance, actuated) : undefined;
  },
});
