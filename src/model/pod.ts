import type {
  V1Container,
  V1ContainerPort,
  V1ContainerState,
  V1ContainerStatus,
  V1EphemeralContainer,
  V1LifecycleHandler,
  V1ObjectMeta,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
  V1Probe,
} from '@kubernetes/client-node';

/** A model class of the Kubernetes client as the plain JSON that manifests and the API carry: times are strings. */
export type Json<T> = T extends Date
  ? string
  : T extends readonly (infer Item)[]
    ? readonly Json<Item>[]
    : T extends object
      ? { readonly [Key in keyof T]: Json<T[Key]> }
      : T;

export type Container = Json<V1Container>;
export type EphemeralContainer = Json<V1EphemeralContainer>;
export type ContainerPort = Json<V1ContainerPort>;
export type ContainerStatus = Json<V1ContainerStatus>;
export type ContainerState = Json<V1ContainerState>;
export type LifecycleHandler = Json<V1LifecycleHandler>;
export type PodCondition = Json<V1PodCondition>;
export type PodSpec = Json<V1PodSpec>;
export type PodStatus = Json<V1PodStatus>;
export type Probe = Json<V1Probe>;

/** A pod after defaulting: identity is always there. */
export interface Pod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Json<V1ObjectMeta> & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

/** Enough of a pod to say which one is meant. */
export interface PodRef {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** Where pods come from. Source: pkg/kubelet/types/pod_update.go; any other name is a source of the user's own. */
export type PodSourceName = 'file' | 'http' | 'api' | (string & {});

export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';

export const podRef = ({ metadata: { uid, namespace, name } }: Pod): PodRef => ({ uid, namespace, name });

/** `name_namespace`, the key by which static pods exclude each other. */
export const podFullName = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}`;

/** `name_namespace(uid)`, as events and messages print a pod. */
export const formatPod = (pod: Pod | PodRef): string => {
  const { name, namespace, uid } = 'metadata' in pod ? pod.metadata : pod;
  return `${name}_${namespace}(${uid})`;
};

export const podSourceOf = (pod: Pod): PodSourceName | undefined =>
  pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];

/** Comes from a source of this node instead of the API server. A pod without a source annotation is not static. */
export const isStaticPod = (pod: Pod): boolean => {
  const source = podSourceOf(pod);
  return source !== undefined && source !== 'api';
};

/** Stands in the API for a static pod; the annotation counts, whatever its value. */
export const isMirrorPod = (pod: Pick<Pod, 'metadata'>): boolean =>
  pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;

/** Source: pkg/kubelet/types/pod_update.go IsCriticalPod, pkg/apis/scheduling SystemCriticalPriority. */
export const isCriticalPod = (pod: Pod): boolean =>
  isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= 2_000_000_000;

export const isTerminalPhase = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** An init container that keeps running beside the regular ones. */
export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export type ContainerKind = 'init' | 'regular' | 'ephemeral';

/** Every container of the pod in the order in which the lists are declared. */
export const containersOf = (
  pod: Pod,
): readonly { readonly kind: ContainerKind; readonly container: Container | EphemeralContainer }[] => [
  ...(pod.spec.initContainers ?? []).map((container) => ({ kind: 'init' as const, container })),
  ...pod.spec.containers.map((container) => ({ kind: 'regular' as const, container })),
  ...(pod.spec.ephemeralContainers ?? []).map((container) => ({ kind: 'ephemeral' as const, container })),
];
