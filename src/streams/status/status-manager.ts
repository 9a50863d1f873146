import {
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  interval,
  map,
  merge,
  mergeMap,
  type Observable,
  observeOn,
  type SchedulerLike,
  tap,
  throwError,
} from 'rxjs';
import { isConflict, isNotFound } from '../../model/kube-api/api-error.js';
import { podPath, podStatusPath } from '../../model/kube-api/api-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { JsonObject } from '../../model/kube-api/strategic-merge-patch.js';
import type { Pod, PodStatus } from '../../model/pod/pod.js';
import type { StoredStatus } from '../../model/pod-status/pod-statuses.js';
import { mergePodStatus } from '../../model/pod-status/merge-pod-status.js';
import { canBeDeleted } from '../../model/pod-status/pod-deletion.js';
import { podStatusPatch } from '../../model/pod-status/pod-status-patch.js';
import { type ApiPod, type StatusBase, StatusLedger, type StatusTarget } from '../../model/pod-status/status-ledger.js';
import type { ApiClient } from '../cluster/api-client.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import { inTurns } from '../operators/in-turns.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { statusChanges } from './status-changes.js';

export interface StatusManagerPorts {
  readonly api: Pick<ApiClient, 'get' | 'patchLate' | 'delete'>;
  /** Its pods and mirror pods are the API's copies, from the source `api`. */
  readonly state: Pick<KubeletState, 'pods' | 'statuses' | 'apply' | 'transition$'> & {
    readonly workers: Pick<KubeletState['workers'], 'couldHaveRunningContainers'>;
  };
  /** Called with the pod in the API's answer to each write. */
  readonly written?: (pod: Pod) => void;
  readonly metrics: Pick<Metrics, 'podStatusSynced'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

export interface StatusManager {
  /** Writes while it is subscribed; emits nothing. Errors: none. Ends: never. */
  readonly run$: Observable<never>;
}

/** Source: pkg/kubelet/status/status_manager.go syncPeriod. Milliseconds. */
export const STATUS_SYNC_PERIOD_MS = 10_000;
/** The number of statuses that are compared with the API in one turn; each takes a tenth of a millisecond. */
const MOST_AT_ONCE = 16;

/**
 * Keeps the statuses of pods in the API up to date: a changed status is written at once, any other difference within ten seconds. One
 * write runs at a time per pod, of the newest status at the time of the request; pods do not wait for each other. A failed write is
 * retried by the next round. Pods that are deleted and have ended are removed from the API.
 *
 * Upstream writes one pod after the other, and reads each before the write. Here a patch is made from the copy of the watch, with
 * its version as a precondition, and the pod is only read if that is out of date.
 *
 * Source: pkg/kubelet/status/status_manager.go
 */
export const statusManager = (ports: StatusManagerPorts): StatusManager => ({
  run$: defer(() => {
    const { state, scheduler } = ports;
    const ledger = new StatusLedger(state);
    const changed$ = statusChanges(state).pipe(tap((uid) => ledger.noteChange(uid, scheduler.now())));
    const round$ = interval(STATUS_SYNC_PERIOD_MS, scheduler).pipe(
      mergeMap(() => from(ledger.targets())),
      inTurns({ most: MOST_AT_ONCE, scheduler })(),
      filter((target) => ledger.isAmiss(target)),
      map(({ uid }) => uid),
    );
    return merge(changed$, round$).pipe(
      // A caller that stores a status does not wait for the request; the changes of one moment make one request.
      observeOn(scheduler),
      exhaustMapLatestBy(
        (uid) => uid,
        (uid) => writeStatus(uid, ledger, ports),
      ),
    );
  }),
});

/** Writes the status of one pod, if it is due. Errors: none; failures are logged. */
const writeStatus = (uid: string, ledger: StatusLedger, ports: StatusManagerPorts): Observable<never> =>
  defer(() => {
    const target = ledger.due(uid);
    if (!target) return EMPTY;
    const base = ledger.base(target);
    const write$ = base
      ? patchFrom(base, target, ledger, ports).pipe(
          // Another client has written meanwhile, or another pod has the name now.
          catchError((error: unknown) =>
            isConflict(error) ? readAndPatch(target, ledger, ports) : throwError(() => error),
          ),
        )
      : readAndPatch(target, ledger, ports);
    return write$.pipe(
      catchError((error: unknown) => {
        report(error, target, ledger, ports);
        return EMPTY;
      }),
    );
  });

const readAndPatch = (target: StatusTarget, ledger: StatusLedger, ports: StatusManagerPorts): Observable<never> =>
  ports.api.get<Pod>(podPath(target.namespace, target.name)).pipe(
    concatMap((pod) => {
      if (pod.metadata.uid !== target.statusUid) {
        const fields = {
          pod: target.name,
          namespace: target.namespace,
          uid: target.statusUid,
          found: pod.metadata.uid,
        };
        ports.log.debug(fields, 'another pod has the name now: the status of the former one is not written');
        return EMPTY;
      }
      return patchFrom({ pod, isRead: true }, target, ledger, ports);
    }),
  );

/** Sends the difference to the API's copy, computed when the request is sent; then removes the pod if that is possible. */
const patchFrom = (
  known: StatusBase,
  target: StatusTarget,
  ledger: StatusLedger,
  ports: StatusManagerPorts,
): Observable<never> =>
  defer(() => {
    const { api, metrics, scheduler } = ports;
    let write = planWrite(known, target, ledger, ports);
    let changedAt: number | undefined;
    if (!write) return EMPTY;
    const makePatch = (): JsonObject | undefined => {
      write = planWrite(known, target, ledger, ports, write);
      changedAt ??= ledger.begin(target);
      return write?.patch;
    };
    const answer$ = write.patch ? api.patchLate<Pod>(podStatusPath(target.namespace, target.name), makePatch) : EMPTY;
    return answer$.pipe(
      tap((answer) => {
        if (write) ledger.accepted(target, answer, write.merged);
        ports.written?.(answer);
      }),
      map((answer): ApiPod | undefined => answer),
      // There was no difference.
      defaultIfEmpty(undefined),
      concatMap((answer) => {
        if (!write) return EMPTY;
        const { stored, base } = write;
        changedAt ??= ledger.begin(target);
        ledger.written(target, stored.version);
        if (changedAt !== undefined) metrics.podStatusSynced((scheduler.now() - changedAt) / 1_000);
        changedAt = undefined;
        return canBeDeleted(answer ?? base, stored.isFinished) ? remove(target, ledger, ports) : EMPTY;
      }),
      tap({ error: () => ledger.failed(target, changedAt) }),
    );
  });

interface Write {
  readonly stored: StoredStatus;
  readonly base: ApiPod;
  readonly merged: PodStatus;
  readonly couldHaveRunningContainers: boolean;
  /** The difference; undefined if the API has it all. */
  readonly patch: JsonObject | undefined;
}

/** Plans the write of the newest status to the newest copy of the API. Returns `before` if both are the same; undefined for a forgotten pod. */
const planWrite = (
  known: StatusBase,
  target: StatusTarget,
  ledger: StatusLedger,
  { state: { statuses, workers }, wallClock }: StatusManagerPorts,
  before?: Write,
): Write | undefined => {
  const stored = statuses.stored(target.uid);
  if (!stored) return undefined;
  const { pod: base, isRead } = known.isRead ? known : (ledger.base(target) ?? known);
  const couldHaveRunningContainers = workers.couldHaveRunningContainers(target.uid);
  const isSame =
    before?.stored === stored &&
    before.base === base &&
    before.couldHaveRunningContainers === couldHaveRunningContainers;
  if (isSame) return before;
  const merged = mergePodStatus({ api: base, own: stored.status, couldHaveRunningContainers, now: wallClock() });
  const isKnown = ledger.isAccepted(target, base, merged);
  const patch = isKnown ? undefined : podStatusPatch(base, merged, { isPinned: !isRead });
  return { stored, base, merged, couldHaveRunningContainers, patch };
};

const remove = (target: StatusTarget, ledger: StatusLedger, { api, state, log }: StatusManagerPorts) =>
  api
    .delete(podPath(target.namespace, target.name), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid: target.statusUid },
    })
    .pipe(
      tap(() => {
        log.debug({ pod: target.name, namespace: target.namespace, uid: target.uid }, 'the pod is gone from the API');
        state.apply({ kind: 'status-forgotten', uid: target.uid });
        ledger.forget(target);
      }),
      ignoreElements(),
    );

/** Logs a failure as a warning once until a write succeeds again: during an outage every round fails for every pod. */
const report = (error: unknown, target: StatusTarget, ledger: StatusLedger, { log }: StatusManagerPorts): void => {
  const { name: pod, namespace, uid } = target;
  const fields = { pod, namespace, uid, error: errorText(error) };
  if (isNotFound(error)) log.debug(fields, 'the pod is not in the API: its status is not written');
  else if (ledger.isFirstFailure(target))
    log.warn(fields, 'the status of the pod could not be written; it is tried again');
  else log.debug(fields, 'the status of the pod could not be written once more');
};
