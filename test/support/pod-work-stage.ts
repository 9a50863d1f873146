import { catchError, EMPTY, map, type Observable, of, type Subscription, tap } from 'rxjs';
import type { ImageStatusResponse } from '../../src/generated/runtime/v1/api.js';
import type { NodeFacts } from '../../src/model/node/node-facts.js';
import type { Pod } from '../../src/model/pod/pod.js';
import type { RuntimePodStatus } from '../../src/model/pleg/runtime-pod.js';
import { noPodCgroups, type PodCgroups } from '../../src/streams/cgroups/pod-cgroups.js';
import { podWork, type PodWorkPorts } from '../../src/streams/pod-workers/pod-work.js';
import { noProbes } from '../../src/streams/probes/no-probes.js';
import type { PodRun, PodWork, SyncResult } from '../../src/streams/pod-workers/pod-workers.js';
import type { NodeFiles } from '../../src/streams/ports/node-files.js';
import type { PodReferences } from '../../src/streams/ports/pod-references.js';
import type { PodVolumes } from '../../src/streams/volumes/pod-volumes.js';
import type { RuntimeService } from '../../src/streams/ports/runtime-service.js';
import type { RuntimeReader } from '../../src/streams/pleg/runtime-reader.js';
import { type KubeletState, kubeletState } from '../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from './a-pod.js';
import { aContainer, aRuntimeStatus, aSandbox } from './a-runtime-status.js';
import { nodeFacts } from './node-facts.js';
import { noFiles, type SyncStage, syncStage } from './sync-context.js';

const image = { image: { id: 'host', uid: { value: 0n }, username: '' }, info: {} } as unknown as ImageStatusResponse;
/** A pod whose container has ended and whose sandbox is not ready any more. */
export const stopped = aRuntimeStatus(
  [aContainer({ name: 'main', state: 'exited', exitCode: 143, reason: 'Error', finishedAt: 2n })],
  [aSandbox({ state: 'SANDBOX_NOTREADY' })],
);

/** What work over a pod is called with, and what it did. */
export interface PodWorkStage extends SyncStage {
  readonly calls: string[];
  readonly relists: string[];
  readonly state: KubeletState;
  readonly run: (status: RuntimePodStatus, rest?: Partial<PodRun>) => PodRun;
  readonly work: PodWork;
  readonly results: string[];
  readonly play: (work$: Observable<unknown>) => Subscription;
  readonly sync: (status: RuntimePodStatus) => Subscription;
}

/** Work over one pod in a runtime that obeys, and what came of it. */
export const podWorkStage = (
  scheduler: Parameters<typeof syncStage>[1],
  {
    pod = aPod(),
    fresh = of(stopped),
    runtime = {},
    networkProblem,
    directories = () => EMPTY,
    cgroups = noPodCgroups,
    volumes,
    podReferences,
    wallClock,
    files = noFiles,
    node = nodeFacts,
  }: {
    readonly pod?: Pod;
    readonly fresh?: Observable<RuntimePodStatus>;
    readonly runtime?: Partial<RuntimeService>;
    readonly networkProblem?: string;
    readonly directories?: (uid: string) => Observable<never>;
    readonly cgroups?: PodCgroups;
    readonly volumes?: PodVolumes;
    readonly podReferences?: PodReferences;
    readonly wallClock?: () => number;
    readonly files?: NodeFiles;
    readonly node?: NodeFacts;
  } = {},
): PodWorkStage => {
  const calls: string[] = [];
  const relists: string[] = [];
  const called =
    <T>(what: (request: { containerId?: string; podSandboxId?: string; timeout?: bigint }) => string, answer: T) =>
    (request: object) =>
      of(answer).pipe(tap(() => calls.push(what(request))));
  const stage = syncStage(pod, scheduler, {
    files,
    node,
    ...(volumes && { volumes }),
    ...(podReferences && { podReferences }),
    images: { imageStatus: () => of(image) },
    runtime: {
      runPodSandbox: called(() => 'sandbox', { podSandboxId: 'fresh' }),
      podSandboxStatus: () => of({ status: aSandbox(), info: {}, containersStatuses: [], timestamp: 0n }),
      createContainer: called(() => 'create', { containerId: 'new' }),
      startContainer: called(() => 'start', {}),
      stopContainer: called(({ containerId, timeout }) => `stop ${containerId} ${timeout}`, {}),
      stopPodSandbox: called(({ podSandboxId }) => `stop ${podSandboxId}`, {}),
      ...runtime,
    },
  });
  const state = kubeletState();
  const ports: PodWorkPorts = {
    ...stage.context.ports,
    ...(wallClock && { wallClock }),
    reader: { podStatus: () => fresh, readyPodsCalled: () => of([]) } as unknown as RuntimeReader,
    podDirectories: { make: directories },
    podCgroups: cgroups,
    probes: noProbes,
    state,
    node,
    runtimeName: 'fake',
    maxRestartBackOffMs: 300_000,
    networkProblem: () => networkProblem,
    relistSoon: (uid) => relists.push(uid),
  };
  const run = (status: RuntimePodStatus, rest: Partial<PodRun> = {}): PodRun => ({
    ...{ uid: 'uid-1', work: 'sync', type: 'sync', isFirst: true, lastSyncAt: 0, causes: ['why'], pod, status },
    ...rest,
  });
  const work = podWork(ports);
  const results: string[] = [];
  /** Runs it to its end and writes down `terminal`, `done`, the wait or the error. */
  const play = (work$: Observable<unknown>) =>
    work$
      .pipe(
        map((result) => {
          const { isTerminal, wait } = result as SyncResult;
          if (wait) return `waits until ${wait.waitsUntil}: ${wait.message}`;
          return isTerminal ? 'terminal' : 'done';
        }),
        catchError((error: unknown) => of(String(error))),
      )
      .subscribe({ next: (result) => results.push(result), complete: () => results.push('|') });
  const sync = (status: RuntimePodStatus) => play(work.syncPod(run(status), new AbortController().signal));
  return { ...stage, calls, relists, state, run, work, results, play, sync };
};
