import type {
  V1Container,
  V1ContainerPort,
  V1ContainerState,
  V1ContainerStatus,
  V1EphemeralContainer,
  V1GRPCAction,
  V1HTTPGetAction,
  V1LifecycleHandler,
  V1ObjectMeta,
  V1PodCondition,
  V1PodSpec,
  V1PodStatus,
  V1Probe,
  V1ResourceRequirements,
} from '@kubernetes/client-node';

/** A model class of the Kubernetes client as plain JSON, the form of manifests and of the API: times are strings. */
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
export type LifecycleHandler = Omit<Json<V1LifecycleHandler>, 'httpGet'> & { readonly httpGet?: HttpGetAction };
export type PodCondition = Json<V1PodCondition>;
export type PodSpec = Json<V1PodSpec>;
/** A pod spec with the resources of the pod as a whole, which the client library does not know yet. */
export type PodStatus = Json<V1PodStatus> & {
  readonly resources?: Json<V1ResourceRequirements>;
  readonly allocatedResources?: Readonly<Record<string, string>>;
};
/** An action with the field that the client library does not know yet. */
export type HttpGetAction = Json<V1HTTPGetAction> & {
  /** `HTTP1` or `HTTP2`; gate H2CContainerProbe. Only probes follow it. */
  readonly protocol?: string;
};
/** A probe with the fields of its handlers that the client library does not know yet. */
export type Probe = Omit<Json<V1Probe>, 'grpc' | 'httpGet'> & {
  readonly httpGet?: HttpGetAction;
  readonly grpc?: Json<V1GRPCAction> & {
    /** `Plaintext` or `TLS`; gate GRPCContainerProbeTLS. */
    readonly mode?: string;
  };
};

/** A pod after defaulting: its name, namespace and UID are set. */
export interface Pod {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly metadata: Json<V1ObjectMeta> & { readonly name: string; readonly namespace: string; readonly uid: string };
  readonly spec: PodSpec;
  readonly status?: PodStatus;
}

/** The fields that identify a pod. */
export interface PodRef {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** A source of pods. Source: pkg/kubelet/types/pod_update.go; any other name is a source of the user's own. */
export type PodSourceName = 'file' | 'http' | 'api' | (string & {});

export const CONFIG_SOURCE_ANNOTATION = 'kubernetes.io/config.source';
export const CONFIG_MIRROR_ANNOTATION = 'kubernetes.io/config.mirror';
export const CONFIG_HASH_ANNOTATION = 'kubernetes.io/config.hash';
export const CONFIG_SEEN_ANNOTATION = 'kubernetes.io/config.seen';

export const podRef = ({ metadata: { uid, namespace, name } }: Pod): PodRef => ({ uid, namespace, name });

export const uidsOf = (pods: readonly Pod[]): ReadonlySet<string> => new Set(pods.map(({ metadata }) => metadata.uid));

/** Returns `name_namespace`, the key by which static pods exclude each other. */
export const podFullName = ({ metadata }: Pod): string => `${metadata.name}_${metadata.namespace}`;

/** Returns `name_namespace(uid)`, the form of a pod in events and messages. */
export const formatPod = (pod: Pod | PodRef): string => {
  const { name, namespace, uid } = 'metadata' in pod ? pod.metadata : pod;
  return `${name}_${namespace}(${uid})`;
};

export const podSourceOf = (pod: Pod): PodSourceName | undefined =>
  pod.metadata.annotations?.[CONFIG_SOURCE_ANNOTATION];

/**
 * Whether the pod comes from a source of this node instead of the API server. A pod without a source annotation is not
 * static.
 */
export const isStaticPod = (pod: Pod): boolean => {
  const source = podSourceOf(pod);
  return source !== undefined && source !== 'api';
};

/** Whether the pod is the mirror pod of a static pod. The annotation counts, with any value. */
export const isMirrorPod = (pod: Pick<Pod, 'metadata'>): boolean =>
  pod.metadata.annotations?.[CONFIG_MIRROR_ANNOTATION] !== undefined;

/**
 * Whether the pod is critical. Source: pkg/kubelet/types/pod_update.go IsCriticalPod, pkg/apis/scheduling
 * SystemCriticalPriority.
 */
export const isCriticalPod = (pod: Pod): boolean =>
  isStaticPod(pod) || isMirrorPod(pod) || (pod.spec.priority ?? 0) >= 2_000_000_000;

export const isTerminalPhase = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

/** Orders pods by their creation; pods without a time of creation go first. */
export const byCreation = (one: Pod, other: Pod): number =>
  (one.metadata.creationTimestamp ?? '').localeCompare(other.metadata.creationTimestamp ?? '');

/** Whether an init container keeps running beside the regular containers. */
export const isSidecar = (container: Container): boolean => container.restartPolicy === 'Always';

export type ContainerKind = 'init' | 'regular' | 'ephemeral';

/** Returns every container of the pod in the order of the lists. */
export const containersOf = (
  pod: Pod,
): readonly { readonly kind: ContainerKind; readonly container: Container | EphemeralContainer }[] => [
  ...(pod.spec.initContainers ?? []).map((container) => ({ kind: 'init' as const, container })),
  ...pod.spec.containers.map((container) => ({ kind: 'regular' as const, container })),
  ...(pod.spec.ephemeralContainers ?? []).map((container) => ({ kind: 'ephemeral' as const, container })),
];
