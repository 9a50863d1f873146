import { containerHash } from '../../src/model/pod-actions/container-hash.js';
import type { NodeFacts } from '../../src/model/node/node-facts.js';
import type { Container, Pod, PodSpec } from '../../src/model/pod/pod.js';
import {
  emptyPodStatus,
  type RuntimeContainerStatus,
  type RuntimePodStatus,
} from '../../src/model/pleg/runtime-pod.js';
import type { PodSandboxStatus } from '../../src/generated/runtime/v1/api.js';

/** A pod `default/p` with uid `uid-1`; everything else is up to the test. */
export const aPod = (spec: Partial<PodSpec> = {}, metadata: Partial<Pod['metadata']> = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'default', uid: 'uid-1', ...metadata },
  spec: { containers: [aContainer('web')], ...spec },
});

export const aContainer = (name: string, fields: Partial<Container> = {}): Container => ({
  name,
  image: `${name}:1`,
  ...fields,
});

export const SECOND = 1_000_000_000n;

/** A container as the runtime shows it, running in sandbox `s1` with the hash of `aContainer(name)`. */
export const aStatus = (name: string, fields: Partial<RuntimeContainerStatus> = {}): RuntimeContainerStatus => ({
  id: `${name}-0`,
  name,
  state: 'running',
  sandboxId: 's1',
  createdAt: 10n * SECOND,
  startedAt: 11n * SECOND,
  finishedAt: 0n,
  exitCode: 0,
  reason: '',
  message: '',
  image: `${name}:1`,
  imageRef: `${name}@sha256:1`,
  hash: containerHash({ name, image: `${name}:1` }),
  restartCount: 0,
  logPath: `${name}/0.log`,
  annotations: {},
  ...fields,
});

export const exited = (
  name: string,
  exitCode: number,
  fields: Partial<RuntimeContainerStatus> = {},
): RuntimeContainerStatus =>
  aStatus(name, {
    state: 'exited',
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    finishedAt: 20n * SECOND,
    ...fields,
  });

/** A ready sandbox `s1`, attempt 0, on the pod network with one address. */
export const aSandbox = (fields: Partial<PodSandboxStatus> = {}): PodSandboxStatus => ({
  id: 's1',
  metadata: { name: 'p', namespace: 'default', uid: 'uid-1', attempt: 0 },
  state: 'SANDBOX_READY',
  createdAt: 5n * SECOND,
  network: { ip: '10.0.0.1', additionalIps: [] },
  linux: {
    namespaces: {
      options: { network: 'POD', pid: 'CONTAINER', ipc: 'POD', targetId: '', usernsOptions: undefined },
    },
  },
  labels: {},
  annotations: {},
  runtimeHandler: '',
  ...fields,
});

/** What the runtime knows of `default/p` when these are its containers, in a ready sandbox unless said otherwise. */
export const aRuntimePod = (
  containers: readonly RuntimeContainerStatus[] = [],
  sandboxes: readonly PodSandboxStatus[] = [aSandbox()],
): RuntimePodStatus => ({
  ...emptyPodStatus({ uid: 'uid-1', namespace: 'default', name: 'p' }),
  ips: sandboxes[0]?.state === 'SANDBOX_READY' && sandboxes[0].network ? [sandboxes[0].network.ip] : [],
  sandboxes,
  containers,
});

/** A node with one address, 8 GiB of memory and nothing unusual. */
export const aNode = (fields: Partial<NodeFacts> = {}): NodeFacts => ({
  rootDirectory: '/var/lib/rx-kubelet',
  canMount: true,
  podLogsDirectory: '/var/log/pods',
  containerLogsDirectory: '/var/log/containers',
  seccompDirectory: '/var/lib/kubelet/seccomp',
  nodeIps: ['192.168.1.10'],
  allocatable: { cpu: '4', memory: '8Gi', 'ephemeral-storage': '100Gi' },
  memoryCapacity: 8n * 1024n ** 3n,
  pageSize: 4096n,
  hugePageSizes: [],
  resolvConf: { servers: ['192.168.1.1'], searches: ['lan'], options: ['timeout:1'] },
  clusterDns: [],
  clusterDomain: 'cluster.local',
  cpuCfsQuota: true,
  cpuCfsQuotaPeriodMicros: 100_000,
  seccompDefault: false,
  killsWholeContainerOnOom: false,
  limitsSwap: false,
  labels: {},
  kernelVersion: '6.1.0',
  allowedUnsafeSysctls: [],
  hasAppArmor: false,
  containerStopSignals: false,
  thermalThrottlePaths: [],
  ...fields,
});
