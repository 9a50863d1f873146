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
  merge,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  tap,
  toArray,
} from 'rxjs';
import {
  type ContainerGcPolicy,
  containersToCollect,
  exitedOf,
  logsWithoutPod,
  sandboxesToCollect,
  surplusAfterDeath,
} from '../../model/upkeep/container-gc.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { PlegEvent } from '../../model/pleg/pleg.js';
import type { RuntimeContainerStatus, RuntimePod, RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { aggregateText } from '../../model/runtime-health/runtime-state.js';
import { removeDanglingLinks } from './dangling-links.js';
import { concatMapBounded } from '../operators/concat-map-bounded.js';
import { inSlots } from '../operators/in-slots.js';
import type { Logger } from '../ports/logger.js';
import type { NodeFiles } from '../ports/node-files.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { WallClock } from '../ports/wall-clock.js';
import { ignoreNotFound, removeDeadContainer } from './remove-dead-container.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';

/** Source: pkg/kubelet/kubelet.go ContainerGCPeriod. Milliseconds. */
export const CONTAINER_GC_PERIOD_MS = 60_000;

/** Source: pkg/kubelet/pod_container_deletor.go containerDeletorBufferLimit. */
export const TRIM_QUEUE_LENGTH = 50;

export interface GarbageCollectionOptions {
  readonly reader: Pick<RuntimeReader, 'listPods'>;
  readonly runtime: Pick<
    RuntimeService,
    'containerStatus' | 'stopContainer' | 'removeContainer' | 'stopPodSandbox' | 'removePodSandbox'
  >;
  readonly files: Pick<NodeFiles, 'listDirectory' | 'remove' | 'removeLog' | 'danglingLinks'>;
  readonly state: {
    readonly workers: Pick<KubeletState['workers'], 'shouldContentBeRemoved' | 'isKnownTerminated'>;
    readonly sources: Pick<KubeletState['sources'], 'all'>;
  };
  /** The newest known status of a pod, to find old instances after the death of a container. */
  readonly statusOf: (uid: string) => RuntimePodStatus | undefined;
  readonly pleg$: Observable<PlegEvent>;
  /** Emits the UIDs of evicted pods once the API has their status. */
  readonly evicted$?: Observable<string>;
  /** The root directory of the agent, with the files that it mounts into containers. */
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  /** The directory of the links to logs. */
  readonly containerLogsDirectory: string;
  readonly policy: ContainerGcPolicy;
  readonly log: Logger;
  readonly recordEvent: RecordEvent;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/**
 * Removes the containers, sandboxes and logs of ended pods every minute; the older instances of a container after each death; and
 * the containers of an evicted pod. Emits nothing.
 *
 * Errors: none; failures are logged and retried a minute later. A round whose listings fail is reported by an event `ContainerGCFailed`
 *         about the node.
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
      // The API has the final status, so the containers are no longer needed.
      (options.evicted$ ?? EMPTY).pipe(mergeMap((uid) => exitedOf(options.statusOf(uid)))),
    ).pipe(
      // One after the other, to leave the runtime to more urgent calls.
      concatMapBounded(
        ({ id, state, name }) => logFailure(options, `container ${name}`, removeDeadContainer(id, state, options)),
        {
          limit: TRIM_QUEUE_LENGTH,
          onDrop: ({ name }) =>
            options.log.info({ container: name }, 'a dead container is left to the next collection'),
        },
      ),
    ),
  );

/** The time after which the next removal begins beside a slow one, in milliseconds. */
export const REMOVAL_TURN_MS = 5_000;

const collect = (options: GarbageCollectionOptions): Observable<never> =>
  collected((uid) => options.state.workers.shouldContentBeRemoved(uid), options).pipe(
    tap((problems) => reportFailures(problems, options)),
    ignoreElements(),
  );

/**
 * Collects at once, for a node that is short of disk space: also what is left of pods that have ended and that a source still wants.
 *
 * Errors: a listing has failed.
 * Source: pkg/kubelet/container/container_gc.go DeleteAllUnusedContainers
 */
export const removeDeadContainers = (options: GarbageCollectionOptions): Observable<never> =>
  defer(() => {
    const { workers } = options.state;
    return collected((uid) => workers.shouldContentBeRemoved(uid) || workers.isKnownTerminated(uid), options);
  }).pipe(
    tap((problems) => {
      if (problems.length > 0) throw new Error(aggregateText(problems));
    }),
    ignoreElements(),
  );

/** One round. Emits the errors of its failed steps. `mayGo`: no source needs what is left of the pod. */
const collected = (
  mayGo: (uid: string) => boolean,
  options: GarbageCollectionOptions,
): Observable<readonly string[]> => {
  const { reader, state, policy, scheduler, wallClock } = options;
  const inTurn = inSlots({ count: 1, longestMs: REMOVAL_TURN_MS, scheduler });
  const isRemovable = (uid: string) => state.sources.all && mayGo(uid);
  const listed = (act: (pods: readonly RuntimePod[]) => Observable<never>) =>
    defer(() => reader.listPods('all')).pipe(concatMap(act));
  const steps = [
    listed((pods) =>
      from(containersToCollect({ pods, policy, isRemovable, now: wallClock() })).pipe(
        mergeMap(({ item }) =>
          logFailure(options, `container ${item.name}`, removeDeadContainer(item.id, item.state, options)).pipe(
            inTurn(),
          ),
        ),
      ),
    ),
    // A second listing shows which sandboxes are empty now.
    listed((pods) =>
      from(sandboxesToCollect({ pods, isRemovable })).pipe(
        mergeMap(({ id }) => logFailure(options, `sandbox ${id}`, removeSandbox(id, options)).pipe(inTurn())),
      ),
    ),
    listed((pods) => removeLogs(pods, isRemovable, options)),
    removeDanglingLinks(options),
  ];
  // A failed step does not stop the others.
  const problem$ = concat(...steps.map((step$) => step$.pipe(catchError((error: unknown) => of(errorText(error))))));
  return problem$.pipe(toArray());
};

/** Reports the failed steps of a round, if there are any. */
const reportFailures = (problems: readonly string[], { log, recordEvent }: GarbageCollectionOptions): void => {
  if (problems.length === 0) return;
  const message = aggregateText(problems);
  log.error({ error: message }, 'the garbage of ended pods could not be removed');
  recordEvent({ type: 'Warning', reason: 'ContainerGCFailed', message, causes: [] });
};

const surplusOf = (
  { pod: { uid }, container }: PlegEvent,
  { statusOf, state, policy }: GarbageCollectionOptions,
): readonly RuntimeContainerStatus[] =>
  surplusAfterDeath({
    ...{ status: statusOf(uid), container, policy },
    isRemovable: state.workers.shouldContentBeRemoved(uid),
  });

const removeSandbox = (podSandboxId: string, { runtime }: GarbageCollectionOptions): Observable<never> =>
  concat(
    runtime.stopPodSandbox({ podSandboxId }).pipe(ignoreElements(), catchError(ignoreNotFound)),
    runtime.removePodSandbox({ podSandboxId }).pipe(ignoreElements(), catchError(ignoreNotFound)),
  );

/** Removes the log folders of former pods of which the runtime has no container or sandbox. */
const removeLogs = (
  pods: readonly RuntimePod[],
  isRemovable: (uid: string) => boolean,
  options: GarbageCollectionOptions,
): Observable<never> =>
  options.files.listDirectory(options.podLogsDirectory).pipe(
    mergeMap((names) => logsWithoutPod(names, pods)),
    // Checked right before each removal: a manifest that came back has its former UID and folder.
    concatMap(({ name, uid }) =>
      isRemovable(uid)
        ? logFailure(options, `log folder ${name}`, options.files.remove(`${options.podLogsDirectory}/${name}`))
        : EMPTY,
    ),
  );

const logFailure = ({ log }: GarbageCollectionOptions, what: string, removing$: Observable<never>): Observable<never> =>
  removing$.pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, `${what} could not be removed`);
      return EMPTY;
    }),
  );
