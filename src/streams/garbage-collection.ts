import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  exhaustMap,
  filter,
  from,
  ignoreElements,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
} from 'rxjs';
import { type ContainerGcPolicy, containersToCollect, sandboxesToCollect } from '../model/container-gc.js';
import { uidOfPodLogDirectory } from '../model/cri/log-paths.js';
import { errorText, isCriError } from '../model/cri-error.js';
import type { PlegEvent } from '../model/pleg.js';
import type { PodWorkerRegistry } from '../model/pod-workers/pod-worker-registry.js';
import type { RuntimePod, RuntimePodStatus } from '../model/runtime-pod.js';
import type { Logger, NodeFiles, RuntimeService, WallClock } from './ports.js';
import type { RuntimeReader } from './runtime-reader.js';

/** Source: pkg/kubelet/kubelet.go ContainerGCPeriod. Milliseconds. */
export const CONTAINER_GC_PERIOD_MS = 60_000;

export interface GarbageCollectionOptions {
  readonly reader: Pick<RuntimeReader, 'listPods'>;
  readonly runtime: Pick<
    RuntimeService,
    'containerStatus' | 'stopContainer' | 'removeContainer' | 'stopPodSandbox' | 'removePodSandbox'
  >;
  readonly files: Pick<NodeFiles, 'listDirectory' | 'remove' | 'removeLog'>;
  readonly workers: Pick<PodWorkerRegistry, 'shouldContentBeRemoved'>;
  readonly areSourcesReady: () => boolean;
  /** The newest known status of a pod, for trimming after a container died. */
  readonly statusOf: (uid: string) => RuntimePodStatus | undefined;
  readonly pleg$: Observable<PlegEvent>;
  readonly podLogsDirectory: string;
  readonly policy: ContainerGcPolicy;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/**
 * Removes what ended pods and containers leave behind, every minute; and after each death of a container all older
 * instances of it. Emits nothing.
 *
 * Errors: none; what cannot be removed is said, and tried again a minute later.
 * Ends:   never.
 * Source: pkg/kubelet/kubelet.go StartGarbageCollection, pkg/kubelet/pod_container_deletor.go
 */
export const garbageCollection = (options: GarbageCollectionOptions): Observable<never> =>
  merge(
    interval(CONTAINER_GC_PERIOD_MS, options.scheduler).pipe(exhaustMap(() => collect(options))),
    options.pleg$.pipe(
      filter(({ type }) => type === 'ContainerDied'),
      // One after the other: there is no hurry, and the runtime has better things to do.
      concatMap((event) => trim(event, options)),
    ),
  );

const collect = (options: GarbageCollectionOptions): Observable<never> => {
  const { reader, areSourcesReady, workers, policy, wallClock } = options;
  const isRemovable = (uid: string) => areSourcesReady() && workers.shouldContentBeRemoved(uid);
  const listed = (act: (pods: readonly RuntimePod[]) => Observable<never>) =>
    defer(() => reader.listPods('all')).pipe(concatMap(act));
  return concat(
    listed((pods) =>
      from(containersToCollect({ pods, policy, isRemovable, now: wallClock() })).pipe(
        concatMap(({ item }) => said(options, `container ${item.name}`, removeDead(item.id, item.state, options))),
      ),
    ),
    // Which sandboxes are empty now only a second look tells.
    listed((pods) =>
      from(sandboxesToCollect({ pods, isRemovable })).pipe(
        concatMap(({ id }) => said(options, `sandbox ${id}`, removeSandbox(id, options))),
      ),
    ),
    listed((pods) => removeLogs(new Set(pods.map(({ uid }) => uid)), isRemovable, options)),
  ).pipe((collecting$) => said(options, 'what ended pods leave behind', collecting$));
};

/** All but the newest exited instance of the container that died, or all of them if its pod is gone. */
const trim = ({ pod: { uid }, container }: PlegEvent, options: GarbageCollectionOptions): Observable<never> =>
  defer(() => {
    const keep = options.workers.shouldContentBeRemoved(uid) ? 0 : Math.max(1, options.policy.maxPerPodContainer);
    const exited = (options.statusOf(uid)?.containers ?? []).filter(
      ({ name, state }) => name === container && state === 'exited',
    );
    if (container === undefined || options.policy.maxPerPodContainer < 0) return EMPTY;
    return from(exited.slice(keep)).pipe(
      concatMap(({ id, state, name }) => said(options, `container ${name}`, removeDead(id, state, options))),
    );
  });

/** Logs first: if they cannot be removed the container stays, so that nothing is left that nobody knows of. */
const removeDead = (
  containerId: string,
  state: string,
  { runtime, files }: GarbageCollectionOptions,
): Observable<never> =>
  concat(
    state === 'unknown' ? runtime.stopContainer({ containerId, timeout: 2n }).pipe(ignoreElements()) : EMPTY,
    runtime
      .containerStatus({ containerId })
      .pipe(concatMap(({ status }) => (status?.logPath ? files.removeLog(status.logPath) : EMPTY))),
    runtime.removeContainer({ containerId }).pipe(ignoreElements()),
  ).pipe(catchError(ignoreNotFound));

const removeSandbox = (podSandboxId: string, { runtime }: GarbageCollectionOptions): Observable<never> =>
  concat(
    runtime.stopPodSandbox({ podSandboxId }).pipe(ignoreElements(), catchError(ignoreNotFound)),
    runtime.removePodSandbox({ podSandboxId }).pipe(ignoreElements(), catchError(ignoreNotFound)),
  );

/** Folders of pods that are gone and of which the runtime has nothing left either. */
const removeLogs = (
  inRuntime: ReadonlySet<string>,
  isRemovable: (uid: string) => boolean,
  options: GarbageCollectionOptions,
): Observable<never> =>
  options.files.listDirectory(options.podLogsDirectory).pipe(
    mergeMap((names) => names),
    map((name) => ({ name, uid: uidOfPodLogDirectory(name) })),
    filter(({ uid }) => !inRuntime.has(uid) && isRemovable(uid)),
    concatMap(({ name }) =>
      said(options, `log folder ${name}`, options.files.remove(`${options.podLogsDirectory}/${name}`)),
    ),
  );

const ignoreNotFound = (error: unknown): Observable<never> => {
  if (isCriError(error, 'not-found')) return EMPTY;
  throw error;
};

const said = ({ log }: GarbageCollectionOptions, what: string, removing$: Observable<never>): Observable<never> =>
  removing$.pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, `${what} could not be removed`);
      return EMPTY;
    }),
  );
