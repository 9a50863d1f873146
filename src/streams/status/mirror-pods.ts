import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  type Observable,
  observeOn,
  type SchedulerLike,
  switchMap,
  take,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isAlreadyExists, isConflict, isNotFound } from '../../model/kube-api/api-error.js';
import { podPath, podsPath } from '../../model/kube-api/api-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import {
  isAttemptDue,
  mirrorAction,
  type MirrorAttempt,
  mirrorCreated,
  mirrorNames,
  mirrorRemoved,
  NO_ATTEMPT,
  presentMirror,
} from '../../model/pod/mirror-action.js';
import { isMirrorOf, mirrorOf, type NodeIdentity } from '../../model/pod/mirror-pod.js';
import { isStaticPod, type Pod, podFullName } from '../../model/pod/pod.js';
import { isOfFormerLife } from '../../model/pod-status/illegal-transition.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { ApiClient } from '../cluster/api-client.js';
import { exhaustMapLatestBy } from '../operators/exhaust-map-latest.js';
import type { Logger } from '../ports/logger.js';
import type { Random } from '../ports/random.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { statusChanges } from './status-changes.js';

export interface MirrorPodPorts {
  readonly api: Pick<ApiClient, 'get' | 'create' | 'delete'>;
  /** Its mirror pods are the API's copies, from the source `api`. */
  readonly state: Pick<KubeletState, 'pods' | 'statuses' | 'transition$'> & {
    readonly sources: Pick<KubeletState['sources'], 'all'>;
    readonly workers: Pick<
      KubeletState['workers'],
      'isTerminationRequested' | 'isTerminatingByFullName' | 'isKnownTerminated'
    >;
  };
  /** The Node in the API; undefined while there is none or it is being deleted. */
  readonly node: () => NodeIdentity | undefined;
  /** The present `node` at once, then each newer one. */
  readonly node$: Observable<NodeIdentity | undefined>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
}

export interface MirrorPods {
  /** Keeps mirrors while it is subscribed; emits nothing. Errors: none. Ends: never. */
  readonly run$: Observable<never>;
}

/** The period in which all mirrors are checked: that of housekeeping, which does it upstream. Milliseconds. */
export const MIRROR_PERIOD_MS = 2_000;
/** The time within which the watch shows a new mirror; after it the mirror is created again. Milliseconds. */
export const MIRROR_ECHO_MS = 10_000;
export const RETRY: Backoff = { initialMs: 1_000, maxMs: 60_000, jitter: 0.5 };

/**
 * Keeps a mirror in the API for every static pod. It is created once the Node exists, created again if it is out of date or was deleted,
 * and removed when no source has the pod. Workers do not wait for mirrors, nor mirrors for each other: a failure is retried with
 * a back-off per mirror, of 1 s doubling to 60 s, jittered.
 *
 * Source: pkg/kubelet/pod/mirror_client.go, pkg/kubelet/kubelet.go tryReconcileMirrorPods
 */
export const mirrorPods = (ports: MirrorPodPorts): MirrorPods => ({
  run$: defer(() => {
    const { state, node$, scheduler } = ports;
    const { pods } = state;
    const attempts = new Map<string, MirrorAttempt>();
    const changed$ = statusChanges(state).pipe(
      map((uid) => pods.get(uid)),
      filter((pod) => pod !== undefined),
      filter(isStaticPod),
      map(podFullName),
    );
    const round$ = node$.pipe(
      filter((node) => node !== undefined),
      take(1),
      switchMap(() => timer(0, MIRROR_PERIOD_MS, scheduler)),
      mergeMap(() => {
        const names = mirrorNames(pods.pods(), pods.mirrors());
        for (const name of attempts.keys()) if (!names.has(name)) attempts.delete(name);
        return from(names);
      }),
    );
    return merge(changed$, round$).pipe(
      observeOn(scheduler),
      exhaustMapLatestBy(
        (fullName) => fullName,
        (fullName) => reconcileMirror(fullName, attempts, ports),
      ),
    );
  }),
});

/** Creates or removes one mirror, if that is necessary and due. Errors: none; failures are logged and retried later. */
const reconcileMirror = (
  fullName: string,
  attempts: Map<string, MirrorAttempt>,
  ports: MirrorPodPorts,
): Observable<never> =>
  defer(() => {
    const { state, log, scheduler, random } = ports;
    const { pods, workers, sources } = state;
    const attempt = attempts.get(fullName) ?? NO_ATTEMPT;
    const pod = pods.podsNamed(fullName).find(isStaticPod);
    const mirror = presentMirror(pods.mirrorsNamed(fullName)[0], attempt);
    const node = ports.node();
    const action = mirrorAction({
      pod,
      mirror,
      isOfFormerLife: hasStatusOfFormerLife(pod, mirror, ports),
      isTerminating:
        workers.isTerminatingByFullName(fullName) || (pod !== undefined && isOnItsWayOut(pod.metadata.uid, workers)),
      areSourcesReady: sources.all,
      isNodeKnown: node !== undefined,
    });
    if (action === 'none') {
      // The watch shows the new mirror.
      if (mirror) attempts.delete(fullName);
      return EMPTY;
    }
    if (!isAttemptDue(attempt, scheduler.now())) return EMPTY;

    const remove$ = mirror
      ? remove(mirror, ports).pipe(
          tap({ complete: () => attempts.set(fullName, mirrorRemoved(attempt, mirror.metadata.uid)) }),
        )
      : EMPTY;
    const create$ =
      pod && node && action !== 'remove'
        ? create(pod, node, ports).pipe(
            tap({
              complete: () => {
                const before = attempts.get(fullName) ?? NO_ATTEMPT;
                attempts.set(fullName, mirrorCreated(before, scheduler.now() + MIRROR_ECHO_MS));
              },
            }),
          )
        : EMPTY;
    return concat(remove$, create$).pipe(
      catchError((error: unknown) => {
        const failures = (attempt.failures ?? 0) + 1;
        const waitMs = nextDelay(RETRY, failures, random());
        attempts.set(fullName, { ...attempts.get(fullName), failures, notBefore: scheduler.now() + waitMs });
        const fields = { pod: fullName, action, error: errorText(error), retryInMs: Math.round(waitMs) };
        log.warn(fields, 'cannot update the mirror of a static pod, retrying');
        return EMPTY;
      }),
    );
  });

/** Whether the mirror has the status of an earlier run of the pod. The API accepts no return from an end, so it cannot be updated. */
const hasStatusOfFormerLife = (
  pod: Pod | undefined,
  mirror: Pod | undefined,
  { state: { statuses } }: MirrorPodPorts,
): boolean => {
  const own = pod && statuses.get(pod.metadata.uid);
  return (
    pod !== undefined && mirror?.status !== undefined && own !== undefined && isOfFormerLife(pod, mirror.status, own)
  );
};

/** Whether the pod is being terminated. A pod that has ended by itself is not: it is still wanted, and its mirror shows its end. */
const isOnItsWayOut = (uid: string, workers: MirrorPodPorts['state']['workers']): boolean =>
  workers.isTerminationRequested(uid) && !workers.isKnownTerminated(uid);

/** Removes the mirror and completes; one that is removed already is no error. Another pod of the name stays. */
const remove = ({ metadata: { namespace, name, uid } }: Pod, { api, log }: MirrorPodPorts): Observable<never> =>
  defer(() => {
    log.info(
      { pod: name, namespace, uid },
      'removing a mirror pod: it is out of date, or its static pod is not wanted',
    );
    return api.delete(podPath(namespace, name), {
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
      preconditions: { uid },
    });
  }).pipe(
    ignoreElements(),
    catchError((error: unknown) => (isNotFound(error) || isConflict(error) ? EMPTY : throwError(() => error))),
  );

/** Creates the mirror and completes once the API has it. */
const create = (pod: Pod, node: NodeIdentity, { api, log }: MirrorPodPorts): Observable<never> =>
  defer(() => {
    const { namespace, name, uid } = pod.metadata;
    log.info({ pod: name, namespace, uid }, 'creating the mirror of a static pod');
    return api.create(podsPath(namespace), mirrorOf(pod, node)).pipe(
      ignoreElements(),
      catchError((error: unknown) => {
        if (!isAlreadyExists(error)) return throwError(() => error);
        return api
          .get<Pod>(podPath(namespace, name))
          .pipe(concatMap((found) => (isCurrent(found, pod) ? EMPTY : throwError(() => error))));
      }),
    );
  });

const isCurrent = (found: Pod, pod: Pod): boolean =>
  isMirrorOf(found, pod) && found.metadata.deletionTimestamp === undefined;
