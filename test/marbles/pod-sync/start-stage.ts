import { catchError, concat, map, type Observable, of, take } from 'rxjs';
import type {
  ContainerState,
  ContainerStatusResponse,
  ImageStatusResponse,
} from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import type { Container, Pod, PodSpec } from '../../../src/model/pod/pod.js';
import type { RuntimeContainerStatus } from '../../../src/model/pleg/runtime-pod.js';
import { ContainerSyncError } from '../../../src/model/pod-actions/sync-error.js';
import type { PodReferences } from '../../../src/streams/ports/pod-references.js';
import type { ImageService } from '../../../src/streams/ports/image-service.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { type KubeletState, kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import type { Sandbox } from '../../../src/streams/pod-sync/ensure-sandbox.js';
import { startContainer } from '../../../src/streams/pod-sync/start-container.js';
import { aPod } from '../../support/a-pod.js';
import { aContainer, aRuntimeStatus } from '../../support/a-runtime-status.js';
import { nodeFacts } from '../../support/node-facts.js';
import { noFiles, syncStage } from '../../support/sync-context.js';

export const SECOND = 1_000;
export const nanos = (ms: number): bigint => BigInt(ms) * 1_000_000n;
export const sandbox: Sandbox = { id: 'sandbox', config: {}, ips: ['10.0.0.1'] };
export const present = {
  image: { id: 'sha256:1', uid: { value: 0n }, username: '' },
  info: {},
} as unknown as ImageStatusResponse;
/** The observation of the image of `main`, unless the scene has another. */
export const IS_PRESENT = 'imageEnsured IfNotPresent true false';
export const away = new CriError('unavailable', 'any', 'the runtime is away');

/** What the runtime says of an instance when it is asked again. */
export const stateOf = (state: ContainerState): ContainerStatusResponse =>
  ({ status: { state }, info: {} }) as unknown as ContainerStatusResponse;

interface Scene {
  readonly container?: Container;
  /** Where the pod comes from; a file unless given. */
  readonly source?: string | undefined;
  readonly instances?: readonly RuntimeContainerStatus[];
  readonly logFiles?: readonly string[];
  readonly runtime?: Partial<RuntimeService>;
  readonly files?: Partial<typeof noFiles>;
  readonly image?: Observable<ImageStatusResponse>;
  readonly images?: Partial<ImageService>;
  readonly podVolumes?: PodSpec['volumes'];
  readonly podReferences?: PodReferences;
  readonly signal?: AbortSignal;
}

type Stage = ReturnType<typeof syncStage> & {
  readonly state: KubeletState;
  readonly calls: string[];
  readonly start$: Observable<string>;
  readonly pod: Pod;
  readonly container: Container;
};

/** Starts `main` and shows how that ended: `ok`, or `reason: message`. */
export const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  { container = { name: 'main', image: 'app:1', imagePullPolicy: 'IfNotPresent' }, ...scene }: Scene,
): Stage => {
  const { instances = [], logFiles = [], runtime = {}, files = {}, image, podReferences, signal, source } = scene;
  const calls: string[] = [];
  const pod = aPod({
    source,
    spec: { containers: [container], ...(scene.podVolumes && { volumes: scene.podVolumes }) },
  });
  const stage = syncStage(pod, scheduler, {
    signal,
    podReferences,
    files: { ...noFiles, listDirectory: () => of(logFiles), ...files },
    images: { imageStatus: () => image ?? of(present), ...scene.images },
    runtime: {
      createContainer: ({ config }) => {
        calls.push(`create ${config?.metadata?.name} ${config?.metadata?.attempt} ${config?.logPath}`);
        return of({ containerId: 'new' });
      },
      startContainer: ({ containerId }) => {
        calls.push(`start ${containerId}`);
        return of({});
      },
      stopContainer: ({ containerId }) => {
        calls.push(`stop ${containerId}`);
        return of({});
      },
      containerStatus: () => of(stateOf('CONTAINER_CREATED')),
      removeContainer: ({ containerId }) => {
        calls.push(`remove ${containerId}`);
        return of({});
      },
      ...runtime,
    },
  });
  const state = kubeletState();
  const ports = { node: nodeFacts, state, maxRestartBackOffMs: 300 * SECOND };
  const start$ = concat(
    startContainer(stage.context, { kind: 'regular', container }, sandbox, aRuntimeStatus(instances), ports),
    of('ok'),
  ).pipe(
    map((result) => (typeof result === 'string' ? result : `waits: ${result.reason}: ${result.message}`)),
    // A container that waits does not run.
    take(1),
    catchError((error: unknown) =>
      of(error instanceof ContainerSyncError ? `${error.reason}: ${error.message}` : String(error)),
    ),
  );
  return { ...stage, state, calls, start$, pod, container };
};

export const ended = (rest: Partial<RuntimeContainerStatus> = {}): RuntimeContainerStatus =>
  aContainer({ name: 'main', state: 'exited', exitCode: 1, finishedAt: nanos(0), hash: 'other', ...rest });
