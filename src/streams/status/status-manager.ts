import {
  catchError,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
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
import { isConflict, isNotFound } from '../../model/api/api-error.js';
import { podPath, podStatusPath } from '../../model/api/api-paths.js';
import { errorText } from '../../model/cri-error.js';
import type { JsonObject } from '../../model/api/strategic-merge-patch.js';
import type { Pod, PodStatus } from '../../model/pod.js';
import type { PodManager } from '../../model/pod-manager.js';
import type { PodStatusStore, StoredStatus } from '../../model/pod-status-store.js';
import { mergePodStatus } from '../../model/pod-status/merge-pod-status.js';
import { canBeDeleted } from '../../model/pod-status/pod-deletion.js';
import { podStatusPatch } from '../../model/pod-status/pod-status-patch.js';
import type { PodWorkerRegistry } from '../../model/pod-workers/pod-worker-registry.js';
import { type ApiPod, type StatusBase, StatusLedger, type StatusTarget } from '../../model/pod-status/status-ledger.js';
import type { ApiClient } from '../api/api-client.js';
import { conflateByKey } from '../operators/conflate-by-key.js';
import type { Logger, Metrics, WallClock } from '../ports.js';
import { statusChanges } from './status-changes.js';

export interface StatusManagerPorts {
  readonly api: Pick<ApiClient, 'get' | 'patchLate' | 'delete'>;
  readonly statuses: PodStatusStore;
  /** With the API's copies of pods and mirrors, as the source `api` delivers them. */
  readonly pods: Pick<PodManager, 'get' | 'resolve'>;
  readonly workers: Pick<PodWorkerRegistry, 'couldHaveRunningContainers'>;
  /** Hears of every pod that the API has answered a write with. */
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
export const FULL_STATUS_PASS_MS = 10_000;

/**
 * Keeps the API's statuses of pods as this node sees them: a changed one is written at once, everything that is not as it should be
 * within ten seconds. One write at a time per pod, of what is newest when it is sent; pods do not wait for each other. A write that
 * failed is repeated by the next pass. Pods that are deleted and have ended are removed from the API.
 *
 * Upstream writes one pod after the other, and reads each before it writes; here the copy that the watch has brought is what a patch
 * is made of, with its version as a precondition, and the pod is only read when that is out of date.
 *
 * Source: pkg/kubelet/status/status_manager.go
 */
export const statusManager = (ports: StatusManagerPorts): StatusManager => ({
  run$: defer(() => {
    const { statuses, scheduler } = ports;
    const ledger = new StatusLedger(ports);
    const changed$ = statusChanges(statuses).pipe(tap((uid) => ledger.noteChange(uid, scheduler.now())));
    const pass$ = interval(FULL_STATUS_PASS_MS, scheduler).pipe(mergeMap(() => from(ledger.reconcile())));
    return merge(changed$, pass$).pipe(
      // Whoever stores a status does not wait for the request to be made; changes of one moment make one.
      observeOn(scheduler),
      conflateByKey(
        (uid) => uid,
        (uid) => writeStatus(uid, ledger, ports),
      ),
    );
  }),
});

/** Writes the status of one pod, if it is due. Errors: none; what failed is said. */
const writeStatus = (uid: string, ledger: StatusLedger, ports: StatusManagerPorts): Observable<never> =>
  defer(() => {
    const target = ledger.due(uid);
    if (!target) return EMPTY;
    const base = ledger.base(target);
    const write$ = base
      ? patchFrom(base, target, ledger, ports).pipe(
          // Somebody else has written meanwhile, or it is another pod of that name by now.
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
        ports.log.debug(fields, 'another pod has the name now: nothing is written of the former one');
        return EMPTY;
      }
      return patchFrom({ pod, isRead: true }, target, ledger, ports);
    }),
  );

/** Sends what the API's copy lacks, as it is when its turn has come, then removes the pod if it may go. */
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
      // There was nothing to say.
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
  /** Undefined when the API has it all. */
  readonly patch: JsonObject | undefined;
}

/** What is to be written now, of what is newest on both sides: `before` while that is the same; nothing of a pod that was forgotten. */
const planWrite = (
  known: StatusBase,
  target: StatusTarget,
  ledger: StatusLedger,
  { statuses, workers, wallClock }: StatusManagerPorts,
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

const remove = (target: StatusTarget, ledger: StatusLedger, { api, statuses, log }: StatusManagerPorts) =>
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
        statuses.forget(target.uid);
        ledger.forget(target);
      }),
      ignoreElements(),
    );

/** Said once, until a write succeeds again: during an outage every pass fails for every pod. */
const report = (error: unknown, target: StatusTarget, ledger: StatusLedger, { log }: StatusManagerPorts): void => {
  const { name: pod, namespace, uid } = target;
  const fields = { pod, namespace, uid, error: errorText(error) };
  if (isNotFound(error)) log.debug(fields, 'the pod is not in the API: its status is not written');
  else if (ledger.isFirstFailure(target))
    log.warn(fields, 'the status of the pod could not be written; it is tried again');
  else log.debug(fields, 'the status of the pod could not be written once more');
};
