import type { PodSandboxStatus } from '../../src/generated/runtime/v1/api.js';
import { containerHash } from '../../src/model/pod-actions/container-hash.js';
import type { RuntimeContainerStatus, RuntimePodStatus } from '../../src/model/pleg/runtime-pod.js';

/** A container instance as the runtime shows it; `name`, state and times as given. */
export const aContainer = (
  sketch: Partial<RuntimeContainerStatus> & { readonly name: string },
): RuntimeContainerStatus => ({
  id: `id-${sketch.name}`,
  state: 'running',
  sandboxId: 'sandbox',
  createdAt: 1n,
  startedAt: 1n,
  finishedAt: 0n,
  exitCode: 0,
  reason: '',
  message: '',
  image: 'host',
  imageRef: 'host',
  hash: containerHash({ name: sketch.name, image: 'host' }),
  restartCount: 0,
  logPath: '',
  annotations: {},
  ...sketch,
});

export const aSandbox = (sketch: Partial<PodSandboxStatus> = {}): PodSandboxStatus => ({
  id: 'sandbox',
  metadata: { name: 'web', namespace: 'default', uid: 'uid-1', attempt: 0 },
  state: 'SANDBOX_READY',
  createdAt: 1n,
  network: { ip: '10.0.0.1', additionalIps: [] },
  linux: undefined,
  labels: {},
  annotations: {},
  runtimeHandler: '',
  ...sketch,
});

export const aRuntimeStatus = (
  containers: readonly RuntimeContainerStatus[],
  sandboxes: readonly PodSandboxStatus[] = [aSandbox()],
): RuntimePodStatus => ({ uid: 'uid-1', namespace: 'default', name: 'web', ips: ['10.0.0.1'], sandboxes, containers });
