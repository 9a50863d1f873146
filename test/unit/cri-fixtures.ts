import type { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from '../../src/generated/runtime/v1/api.js';

const labelsOf = (uid: string) => ({
  'io.kubernetes.pod.uid': uid,
  'io.kubernetes.pod.name': `name-${uid}`,
  'io.kubernetes.pod.namespace': 'ns',
});

/** One line of ListPodSandbox: a ready sandbox of the pod `uid`. */
export const aSandbox = (uid: string, id: string, fields: Partial<PodSandbox> = {}): PodSandbox => ({
  id,
  metadata: { name: `name-${uid}`, uid, namespace: 'ns', attempt: 0 },
  state: 'SANDBOX_READY',
  createdAt: 1n,
  labels: labelsOf(uid),
  annotations: {},
  runtimeHandler: '',
  ...fields,
});

/** One line of ListContainers: a running container of the pod `uid`. */
export const aListedContainer = (uid: string, id: string, fields: Partial<Container> = {}): Container => ({
  id,
  podSandboxId: `sandbox-${uid}`,
  metadata: { name: `container-${id}`, attempt: 0 },
  image: undefined,
  imageRef: '',
  state: 'CONTAINER_RUNNING',
  createdAt: 2n,
  labels: labelsOf(uid),
  annotations: {},
  imageId: '',
  ...fields,
});

/** The answer of PodSandboxStatus for a ready sandbox. */
export const aSandboxStatus = (uid: string, id: string, fields: Partial<PodSandboxStatus> = {}): PodSandboxStatus => ({
  id,
  metadata: { name: `name-${uid}`, uid, namespace: 'ns', attempt: 0 },
  state: 'SANDBOX_READY',
  createdAt: 1n,
  network: { ip: '10.0.0.1', additionalIps: [] },
  linux: undefined,
  labels: labelsOf(uid),
  annotations: {},
  runtimeHandler: '',
  ...fields,
});

/** The answer of ContainerStatus for a running container. */
export const aContainerStatus = (id: string, fields: Partial<ContainerStatus> = {}): ContainerStatus => ({
  id,
  metadata: { name: `container-${id}`, attempt: 0 },
  state: 'CONTAINER_RUNNING',
  createdAt: 2n,
  startedAt: 3n,
  finishedAt: 0n,
  exitCode: 0,
  image: {
    image: 'image:1',
    annotations: {},
    userSpecifiedImage: '',
    runtimeHandler: '',
    imageRef: '',
  },
  imageRef: 'image@sha256:1',
  reason: '',
  message: '',
  labels: {},
  annotations: {},
  mounts: [],
  logPath: '',
  resources: undefined,
  imageId: '',
  user: undefined,
  stopSignal: 'RUNTIME_DEFAULT',
  ...fields,
});
