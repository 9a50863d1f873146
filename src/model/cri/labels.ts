import type { AllocatedResources, Amounts } from '../pod/allocated-resources.js';
import { containerHash } from '../pod-actions/container-hash.js';
import type { RuntimeContainerStatus } from '../pleg/runtime-pod.js';
import type { Container, ContainerPort, LifecycleHandler, Pod } from '../pod/pod.js';
import { firstNamed } from '../values/indexed-lists.js';

/** The labels and annotations by which the agent finds its own items. */
export const POD_NAME = 'io.kubernetes.pod.name';
export const POD_NAMESPACE = 'io.kubernetes.pod.namespace';
export const POD_UID = 'io.kubernetes.pod.uid';
const CONTAINER_NAME = 'io.kubernetes.container.name';
export const CONTAINER_HASH = 'io.kubernetes.container.hash';
export const RESTART_COUNT = 'io.kubernetes.container.restartCount';
const TERMINATION_MESSAGE_PATH = 'io.kubernetes.container.terminationMessagePath';
const TERMINATION_MESSAGE_POLICY = 'io.kubernetes.container.terminationMessagePolicy';
const DELETION_GRACE_PERIOD = 'io.kubernetes.pod.deletionGracePeriod';
const TERMINATION_GRACE_PERIOD = 'io.kubernetes.pod.terminationGracePeriod';
const PRE_STOP_HANDLER = 'io.kubernetes.container.preStopHandler';
const PORTS = 'io.kubernetes.container.ports';
/** Upstream keeps the amounts of its containers in a file, `actuated_pods_state`. */
const RESOURCES = 'rx-kubelet/container-resources';
const POD_RESOURCES = 'rx-kubelet/pod-resources';
/** The crashes before the instance was created: the kubelet has no such annotation. */
const CRASHES = 'rx-kubelet/crashes';

type Labels = { [key: string]: string };

/** The pod's own labels, and the agent's labels over them. Source: pkg/kubelet/kuberuntime/labels.go newPodLabels. */
export const sandboxLabels = ({ metadata }: Pod): Labels => ({ ...metadata.labels, ...identity(metadata) });

/** Labels of a pod are not copied to its containers. Source: pkg/kubelet/kuberuntime/labels.go newContainerLabels. */
export const containerLabels = ({ metadata }: Pod, { name }: Pick<Container, 'name'>): Labels => ({
  ...identity(metadata),
  [CONTAINER_NAME]: name,
});

/**
 * The fields of a container that the agent needs even without its pod: how to stop it, and where its termination
 * message is. Source: pkg/kubelet/kuberuntime/labels.go newContainerAnnotations.
 */
export const containerAnnotations = (pod: Pod, container: Container, restartCount: number, crashes = 0): Labels => {
  const { deletionGracePeriodSeconds } = pod.metadata;
  const { terminationGracePeriodSeconds } = pod.spec;
  const preStop = container.lifecycle?.preStop;
  return {
    [CONTAINER_HASH]: containerHash(container),
    [RESTART_COUNT]: String(restartCount),
    [TERMINATION_MESSAGE_PATH]: container.terminationMessagePath ?? '',
    [TERMINATION_MESSAGE_POLICY]: container.terminationMessagePolicy ?? '',
    ...(deletionGracePeriodSeconds !== undefined && { [DELETION_GRACE_PERIOD]: String(deletionGracePeriodSeconds) }),
    ...(terminationGracePeriodSeconds !== undefined && {
      [TERMINATION_GRACE_PERIOD]: String(terminationGracePeriodSeconds),
    }),
    ...(preStop && { [PRE_STOP_HANDLER]: JSON.stringify(preStop) }),
    ...(container.ports?.length && { [PORTS]: JSON.stringify(container.ports.map(inOrder)) }),
    [RESOURCES]: amountsText(container.resources),
    ...(pod.spec.resources && { [POD_RESOURCES]: amountsText(pod.spec.resources) }),
    ...(crashes > 0 && { [CRASHES]: String(crashes) }),
  };
};

const amountsText = ({ requests, limits }: Amounts = {}): string => JSON.stringify({ requests, limits });

/**
 * Returns the amounts with which the newest instances of the containers were created. They are known after any end of the agent. A
 * container without an instance, or one that another kubelet has created, has none here.
 */
export const allocatedOfContainers = (instances: readonly RuntimeContainerStatus[]): AllocatedResources => {
  const ofPod = instances.find(({ annotations }) => annotations[POD_RESOURCES] !== undefined);
  return {
    pod: ofPod && podAmountsOfInstance(ofPod.annotations),
    container: (name) => {
      const instance = firstNamed(instances, name);
      return instance && amountsOfInstance(instance.annotations);
    },
  };
};

/** The amounts with which an instance was created; undefined if another kubelet has created it. */
export const amountsOfInstance = (annotations: Annotations): Amounts | undefined => amountsIn(annotations, RESOURCES);

/** The amounts of the pod as a whole with which an instance was created; undefined if it had none. */
export const podAmountsOfInstance = (annotations: Annotations): Amounts | undefined =>
  amountsIn(annotations, POD_RESOURCES);

type Annotations = Readonly<Record<string, string>>;

const amountsIn = (annotations: Annotations, key: string): Amounts | undefined =>
  parseJson(annotations[key], isObject) as Amounts | undefined;

/** In the order in which Go writes the fields. Source: staging/src/k8s.io/api/core/v1/types.go ContainerPort. */
const inOrder = ({ name, hostPort, containerPort, protocol, hostIP }: ContainerPort) => ({
  name,
  hostPort,
  containerPort,
  protocol,
  hostIP,
});

/** The number of crashes that an instance was created with; see `CrashLoopEntry`. */
export const crashesOf = (annotations: Readonly<Record<string, string>>): number =>
  parseInteger(annotations[CRASHES]) ?? 0;

/** The fields of `containerAnnotations`. */
export interface ContainerAnnotations {
  readonly hash: string;
  readonly restartCount: number;
  readonly terminationMessagePath: string;
  readonly terminationMessagePolicy: string;
  readonly deletionGracePeriodSeconds?: number | undefined;
  readonly terminationGracePeriodSeconds?: number | undefined;
  readonly preStop?: LifecycleHandler | undefined;
  readonly ports?: readonly ContainerPort[] | undefined;
}

/** Missing or unreadable annotations read as empty, 0 or absent. Source: pkg/kubelet/kuberuntime/labels.go. */
export const parseContainerAnnotations = (annotations: Readonly<Record<string, string>>): ContainerAnnotations => ({
  hash: annotations[CONTAINER_HASH] ?? '',
  restartCount: parseInteger(annotations[RESTART_COUNT]) ?? 0,
  terminationMessagePath: annotations[TERMINATION_MESSAGE_PATH] ?? '',
  terminationMessagePolicy: annotations[TERMINATION_MESSAGE_POLICY] ?? '',
  deletionGracePeriodSeconds: parseInteger(annotations[DELETION_GRACE_PERIOD]),
  terminationGracePeriodSeconds: parseInteger(annotations[TERMINATION_GRACE_PERIOD]),
  preStop: parseJson(annotations[PRE_STOP_HANDLER], isObject) as LifecycleHandler | undefined,
  ports: parseJson(annotations[PORTS], Array.isArray) as readonly ContainerPort[] | undefined,
});

const identity = ({ name, namespace, uid }: Pod['metadata']): Labels => ({
  [POD_NAME]: name,
  [POD_NAMESPACE]: namespace,
  [POD_UID]: uid,
});

const parseInteger = (text: string | undefined): number | undefined =>
  text !== undefined && /^-?\d+$/.test(text) ? Number(text) : undefined;

const parseJson = (text: string | undefined, isExpected: (value: unknown) => boolean): unknown => {
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return isExpected(value) ? value : undefined;
  } catch {
    return undefined;
  }
};

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value);
