import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  expand,
  from,
  ignoreElements,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  shareReplay,
  switchMap,
  timer,
  toArray,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { EvictionPolicy } from '../../model/eviction/eviction-policy.js';
import { evictionForLimit, evictionForShortage, mayBeEvicted, type Shortage } from '../../model/eviction/eviction.js';
import { exceededLimit, hasLocalLimit } from '../../model/eviction/local-limits.js';
import { isMet, judgePressure, NO_PRESSURE_MEMORY, type PressureMemory } from '../../model/eviction/pressure.js';
import { type DiskLayout, diskLayout, type Reclaim, reclaimsOf, SIGNALS } from '../../model/eviction/signals.js';
import { byUrgency, type Threshold, withContainerThresholds } from '../../model/eviction/thresholds.js';
import type { NodePressure } from '../../model/node/node-conditions.js';
import type { Pod } from '../../model/pod/pod.js';
import type { EvictionFigures } from '../ports/eviction-figures.js';
import type { Logger } from '../ports/logger.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { EvictPod } from './evict-pod.js';
import { untilCleanedUp } from './until-cleaned-up.js';

/** The time between two checks of the node, in milliseconds. Source: pkg/kubelet/kubelet.go evictionMonitoringPeriod */
export const EVICTION_PERIOD_MS = 10_000;

/** Removes what no pod needs any more. Each completes when it is done. Errors: something could not be removed. */
export type NodeReclaim = Readonly<Record<Reclaim, Observable<never>>>;

export interface EvictionManagerOptions {
  readonly policy: EvictionPolicy;
  readonly figures: EvictionFigures;
  /** The pods that have not ended. */
  readonly activePods: () => readonly Pod[];
  readonly evictPod: EvictPod;
  /** The worker of the pod is done with it. */
  readonly isCleanedUp: (uid: string) => boolean;
  readonly reclaim: NodeReclaim;
  /** Receives the conditions of the node with each check. */
  readonly reportPressure: (pressure: NodePressure) => void;
  readonly recordEvent: RecordEvent;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** The disks of the node, and all thresholds that follow from them. */
interface Disks {
  readonly layout: DiskLayout;
  readonly thresholds: readonly Threshold[];
}

/** One check of the node. */
interface NodeCheck {
  readonly memory: PressureMemory;
  /** The pods that it has evicted. */
  readonly evicted: readonly Pod[];
}

/**
 * Checks the node at once and every 10 s. Pods that exceed a limit of local storage of their own are evicted. Else, where the node is short
 * of something, what no pod needs is removed; if that is not enough, one pod is evicted. After an eviction it checks again once the pod is
 * cleaned up, after 30 s at most. Emits nothing.
 *
 * Errors: none; a failed check is logged, and the next one is 10 s later.
 * Ends:   never.
 * Source: pkg/kubelet/eviction/eviction_manager.go Start, synchronize
 */
export const evictionManager = (options: EvictionManagerOptions): Observable<never> =>
  defer(() => {
    const { policy, figures, isCleanedUp, log, scheduler } = options;
    // The file systems of a node stay where they are. A failed read is not kept.
    const disks$ = defer(figures.devices).pipe(
      map(diskLayout),
      map((layout): Disks => ({ layout, thresholds: withContainerThresholds(policy.thresholds, layout) })),
      shareReplay({ bufferSize: 1, refCount: false }),
    );
    const check = (memory: PressureMemory): Observable<NodeCheck> =>
      disks$.pipe(
        concatMap((disks) => checkNode(disks, memory, options)),
        catchError((error: unknown) => {
          log.warn({ error: errorText(error) }, 'the resources of the node cannot be judged for evictions');
          return of({ memory, evicted: [] });
        }),
      );
    const due = (evicted: readonly Pod[]): Observable<unknown> =>
      evicted.length > 0
        ? untilCleanedUp(evicted, { isCleanedUp, log, scheduler })
        : timer(EVICTION_PERIOD_MS, scheduler);
    return check(NO_PRESSURE_MEMORY).pipe(
      expand(({ memory, evicted }) => due(evicted).pipe(switchMap(() => check(memory)))),
      ignoreElements(),
    );
  });

/** One check. Errors: a read has failed. */
const checkNode = (
  { layout, thresholds }: Disks,
  before: PressureMemory,
  options: EvictionManagerOptions,
): Observable<NodeCheck> => {
  const { policy, figures, reportPressure, scheduler } = options;
  return figures.node().pipe(
    concatMap((observations) => {
      const { memory, pressure, due } = judgePressure(before, {
        ...{ thresholds, observations, now: scheduler.now() },
        transitionMs: policy.pressureTransitionMs,
      });
      reportPressure(pressure);
      const [threshold] = due.toSorted(byUrgency);
      const shortage = threshold && { threshold, observations, layout };
      return evictOverLimits(layout, options).pipe(
        concatMap((evicted) =>
          evicted.length === 0 && shortage ? relieve(shortage, thresholds, options) : of(evicted),
        ),
        map((evicted) => ({ memory, evicted })),
      );
    }),
  );
};

/** Evicts the pods that exceed a limit of their own, side by side, and emits them. */
const evictOverLimits = (
  layout: DiskLayout,
  { policy, figures, activePods, evictPod }: EvictionManagerOptions,
): Observable<readonly Pod[]> => {
  const limited = policy.enforcesLocalLimits
    ? activePods().filter((pod) => mayBeEvicted(pod) && hasLocalLimit(pod))
    : [];
  if (limited.length === 0) return of([]);
  return figures.pods(limited).pipe(
    concatMap((measured) =>
      from(limited).pipe(
        mergeMap((pod) => {
          const own = measured.find(({ uid }) => uid === pod.metadata.uid);
          const exceeded = own && exceededLimit(pod, own, layout);
          return exceeded ? concat(evictPod(evictionForLimit(pod, exceeded)), of(pod)) : EMPTY;
        }),
        toArray(),
      ),
    ),
  );
};

/** Removes what may be removed; if that is not enough, evicts one pod and emits it. */
const relieve = (
  shortage: Shortage,
  thresholds: readonly Threshold[],
  options: EvictionManagerOptions,
): Observable<readonly Pod[]> =>
  defer(() => {
    const { figures, recordEvent, log } = options;
    const { signal } = shortage.threshold;
    const { resource } = SIGNALS[signal];
    log.warn({ signal, resource }, 'the node runs short of a resource');
    const message = `Attempting to reclaim ${resource}`;
    recordEvent({ type: 'Warning', reason: 'EvictionThresholdMet', message, causes: [] });
    const reclaims = reclaimsOf(signal, shortage.layout);
    if (reclaims.length === 0) return evictOne(shortage, options);
    return concat(...reclaims.map((kind) => reclaimed(kind, options)), defer(figures.node)).pipe(
      concatMap((observations) =>
        thresholds.some((threshold) => isMet(threshold, observations, { reclaims: true }))
          ? evictOne(shortage, options)
          : of([]),
      ),
    );
  });

const reclaimed = (kind: Reclaim, { reclaim, log }: EvictionManagerOptions): Observable<never> =>
  reclaim[kind].pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, `not all ${kind.replace('-', ' ')} could be removed`);
      return EMPTY;
    }),
  );

/** Evicts the first pod in the order of eviction, and emits it in a list. */
const evictOne = (
  shortage: Shortage,
  { policy, figures, activePods, evictPod, log }: EvictionManagerOptions,
): Observable<readonly Pod[]> =>
  defer(() => {
    const pods = activePods();
    return figures.pods(pods).pipe(
      concatMap((measured) => {
        const eviction = evictionForShortage(shortage, pods, measured, policy);
        if (eviction) return concat(evictPod(eviction), of([eviction.pod]));
        log.error({ signal: shortage.threshold.signal }, 'the node is short of a resource, and no pod may be evicted');
        return of([]);
      }),
    );
  });
