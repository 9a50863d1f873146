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
import { errorText } from '../model/cri-error.js';
import type { PlegEvent } from '../model/pleg.js';
import type { PodWorkerRegistry } from '../model/pod-workers/pod-worker-registry.js';
import type { RuntimeContainerStatus, RuntimePod, RuntimePodStatus } from '../model/runtime-pod.js';
import { aggregateText } from '../model/runtime-state.js';
import { removeDanglingLinks } from './dangling-links.js';
import { concatMapBounded } from './operators/concat-map-bounded.js';
import { inSlots } from './operators/in-slots.js';
import type { Logger, NodeFiles, RecordEvent, RuntimeService, WallClock } from './ports.js';
import { ignoreNotFound, removeDeadContainer } from './remove-dead-container.js';
import type { RuntimeReader } from './runtime-reader.js';

/** Source: pkg/kubelet/kubelet.go ContainerGCPeriod. Milliseconds. */
export const CONTAINER_GC_PERIOD_MS = 60_000;

/** Source: pkg/kubelet/pod_container_deletor.go containerDeletorBufferLimit. */
const TRIM_QUEUE_LENGTH = 50;

export interface GarbageCollectionOptions {
  readonly reader: Pick<RuntimeReader, 'listPods'>;
  readonly runtime: Pick<
    RuntimeService,
    'containerStatus' | 'stopContainer' | 'removeContainer' | 'stopPodSandbox' | 'removePodSandbox'
  >;
  readonly files: Pick<NodeFiles, 'listDirectory' | 'remove' | 'removeLog' | 'danglingLinks'>;
  readonly workers: Pick<PodWorkerRegistry, 'shouldContentBeRemoved'>;
  readonly areSourcesReady: () => boolean;
  /** The newest known status of a pod, for trimming after a container died. */
  readonly statusOf: (uid: string) => RuntimePodStatus | undefined;
  readonly pleg$: Observable<PlegEvent>;
  /** UIDs of pods that the node has thrown out, once the API knows that. */
  readonly evicted$?: Observable<string>;
  /** Of the agent, with the files that it lent to containers. */
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  /** Where the links to logs are. */
  readonly containerLogsDirectory: string;
  readonly policy: ContainerGcPolicy;
  readonly log: Logger;
  readonly recordEvent: RecordEvent;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/**
 * Removes what ended pods and containers leave behind, every minute; after each death of a container all older instances of it; and
 * all containers of a pod that was evicted. Emits nothing.
 *
 * Errors: none; what cannot be removed is said, and tried again a minute later. An event `ContainerGCFailed` about the node
 *         tells of a pass that could not look for it.
 * Ends:   never.
 * Source: pkg/kubelet/kubelet.go StartGarbageCollection, pkg/kubelet/pod_container_deletor.go
 */
export const garbageCollection = (options: GarbageCollectionOptions): Observable<never> =>
  merge(
    interval(CONTAINER_GC_PERIOD_MS, options.scheduler).pipe(exhaustMap(() => collect(options))),
    merge(
      options.pleg$.pipe(
        filter(({ type }) => type === 'ContainerDied'),
        mergeMap((event) => surplusOf(event, options)),
      ),
      // Its status is told, which is all that they were kept for.
      (options.evicted$ ?? EMPTY).pipe(mergeMap((uid) => exitedOf(uid, options))),
    ).pipe(
      // One after the other: there is no hurry, and the runtime has better things to do.
      concatMapBounded(
        ({ id, state, name }) => said(options, `container ${name}`, removeDeadContainer(id, state, options)),
        {
          limit: TRIM_QUEUE_LENGTH,
          onDrop: ({ name }) =>
            options.log.info({ container: name }, 'a dead container is left to the next collection'),
        },
      ),
    ),
  );

/** A removal that takes longer lets the next one begin: what hangs is not to keep the garbage of others. Milliseconds. */
const REMOVAL_TURN_MS = 5_000;

const collect = (options: GarbageCollectionOptions): Observable<never> => {
  const { reader, areSourcesReady, workers, policy, scheduler, wallClock } = options;
  const inTurn = inSlots({ count: 1, longestMs: REMOVAL_TURN_MS, scheduler });
  const isRemovable = (uid: string) => areSourcesReady() && workers.shouldContentBeRemoved(uid);
  const listed = (act: (pods: readonly RuntimePod[]) => Observable<never>) =>
    defer(() => reader.listPods('all')).pipe(concatMap(act));
  const steps = [
    listed((pods) =>
      from(containersToCollect({ pods, policy, isRemovable, now: wallClock() })).pipe(
        mergeMap(({ item }) =>
          said(options, `container ${item.name}`, removeDeadContainer(item.id, item.state, options)).pipe(inTurn()),
        ),
      ),
    ),
    // Which sandboxes are empty now only a second look tells.
    listed((pods) =>
      from(sandboxesToCollect({ pods, isRemovable })).pipe(
        mergeMap(({ id }) => said(options, `sandbox ${id}`, removeSandbox(id, options)).pipe(inTurn())),
      ),
    ),
    listed((pods) => removeLogs(new Set(pods.map(({ uid }) => uid)), isRemovable, options)),
    removeDanglingLinks(options),
  ];
  return defer(() => {
    const problems = new Set<string>();
    const noted = steps.map((step$) =>
      step$.pipe(
        catchError((error: unknown) => {
          problems.add(errorText(error));
          return EMPTY;
        }),
      ),
    );
    return concat(
      ...noted,
      defer(() => {
        if (problems.size > 0) tellOfFailure(aggregateText([...problems]), options);
        return EMPTY;
      }),
    );
  });
};

/** One step that fails holds up no other. */
const tellOfFailure = (message: string, { log, recordEvent }: GarbageCollectionOptions): void => {
  log.error({ error: message }, 'what ended pods leave behind could not be removed');
  recordEvent({ type: 'Warning', reason: 'ContainerGCFailed', message, causes: [] });
};

/** All but the newest exited instance of the container that died, or all that the pod had if it is gone. */
const surplusOf = (
  { pod: { uid }, container }: PlegEvent,
  options: GarbageCollectionOptions,
): readonly RuntimeContainerStatus[] => {
  const { workers, policy } = options;
  const exited = exitedOf(uid, options);
  if (policy.maxPerPodContainer < 0) return [];
  if (workers.shouldContentBeRemoved(uid)) return exited;
  return exited.filter(({ name }) => name === container).slice(Math.max(1, policy.maxPerPodContainer));
};

const exitedOf = (
  uid: string,
  { statusOf }: Pick<GarbageCollectionOptions, 'statusOf'>,
): readonly RuntimeContainerStatus[] => (statusOf(uid)?.containers ?? []).filter(({ state }) => state === 'exited');

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
    filter(({ uid }) => !inRuntime.has(uid)),
    // Asked of each when it is its turn: a manifest that came back has the UID, and the folder, that it had before.
    concatMap(({ name, uid }) =>
      isRemovable(uid)
        ? said(options, `log folder ${name}`, options.files.remove(`${options.podLogsDirectory}/${name}`))
        : EMPTY,
    ),
  );

const said = ({ log }: GarbageCollectionOptions, what: string, removing$: Observable<never>): Observable<never> =>
  removing$.pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, `${what} could not be removed`);
      return EMPTY;
    }),
  );
