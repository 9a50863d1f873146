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
import { isAlreadyExists, isConflict, isNotFound } from '../../model/api/api-error.js';
import { podPath, podsPath } from '../../model/api/api-paths.js';
import { errorText } from '../../model/cri-error.js';
import { mirrorAction } from '../../model/mirror-action.js';
import { isMirrorOf, mirrorOf, type NodeIdentity } from '../../model/mirror-pod.js';
import { isStaticPod, type Pod, podFullName } from '../../model/pod.js';
import type { PodManager } from '../../model/pod-manager.js';
import type { PodStatusStore } from '../../model/pod-status-store.js';
import type { PodWorkerRegistry } from '../../model/pod-workers/pod-worker-registry.js';
import { jittered } from '../../model/pod-workers/requeue-delay.js';
import type { ApiClient } from '../api/api-client.js';
import { conflateByKey } from '../operators/conflate-by-key.js';
import type { Logger, Random } from '../ports.js';
import { statusChanges } from './status-changes.js';

export interface MirrorPodPorts {
  readonly api: Pick<ApiClient, 'get' | 'create' | 'delete'>;
  /** Static pods of the sources, and mirrors as the source `api` delivers them. */
  readonly pods: Pick<PodManager, 'get' | 'pods' | 'mirrors'>;
  readonly workers: Pick<PodWorkerRegistry, 'isTerminationRequested' | 'isTerminatingByFullName' | 'isKnownTerminated'>;
  /** Tells when something about a pod or its mirror has changed. */
  readonly statuses: Pick<PodStatusStore, 'onChange'>;
  /** The node's object in the API; undefined while it is not there, or is being deleted. */
  readonly node: () => NodeIdentity | undefined;
  /** Every source has been heard. */
  readonly areSourcesReady: () => boolean;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
}

export interface MirrorPods {
  /** Keeps mirrors while it is subscribed; emits nothing. Errors: none. Ends: never. */
  readonly run$: Observable<never>;
}

/** Until the node is known. Source: pkg/kubelet/kubelet.go fastStaticPodsRegistration. Milliseconds. */
export const NODE_POLL_MS = 100;
/** Then everything is looked at as often as housekeeping does it upstream. */
export const MIRROR_PASS_MS = 2_000;
/** What was made shows in the watch by then, or it is made again. */
export const MIRROR_ECHO_MS = 10_000;
const RETRY_INITIAL_MS = 1_000;
const RETRY_MAX_MS = 60_000;

/** What is remembered of one full name. */
interface Attempt {
  readonly failures?: number;
  /** Nothing is tried before; scheduler's milliseconds. */
  readonly notBefore?: number;
  /** Known to be gone, whatever the watch still shows. */
  readonly removedUid?: string;
}

/**
 * Keeps a mirror in the API for every static pod: made as soon as the node is there, made anew when it is out of date or was deleted,
 * removed when nobody wants the pod any more. Workers do not wait for any of it, and no pod for another: what fails is tried again
 * with a back-off of its own, of 1 s doubling to 60 s, jittered.
 *
 * Source: pkg/kubelet/pod/mirror_client.go, pkg/kubelet/kubelet.go tryReconcileMirrorPods
 */
export const mirrorPods = (ports: MirrorPodPorts): MirrorPods => ({
  run$: defer(() => {
    const { pods, statuses, node, scheduler } = ports;
    const attempts = new Map<string, Attempt>();
    const changed$ = statusChanges(statuses).pipe(
      map((uid) => pods.get(uid)),
      filter((pod) => pod !== undefined),
      filter(isStaticPod),
      map(podFullName),
    );
    const pass$ = timer(0, NODE_POLL_MS, scheduler).pipe(
      filter(() => node() !== undefined),
      take(1),
      switchMap(() => timer(0, MIRROR_PASS_MS, scheduler)),
      mergeMap(() => {
        const names = new Set([...pods.pods().filter(isStaticPod), ...pods.mirrors()].map(podFullName));
        for (const name of attempts.keys()) if (!names.has(name)) attempts.delete(name);
        return from(names);
      }),
    );
    return merge(changed$, pass$).pipe(
      observeOn(scheduler),
      conflateByKey(
        (fullName) => fullName,
        (fullName) => settle(fullName, attempts, ports),
      ),
    );
  }),
});

/** Does what is to be done about one mirror, if anything is and it is time. Errors: none; what failed is said and tried again. */
const settle = (fullName: string, attempts: Map<string, Attempt>, ports: MirrorPodPorts): Observable<never> =>
  defer(() => {
    const { pods, workers, log, scheduler, random } = ports;
    const attempt = attempts.get(fullName) ?? {};
    const pod = pods.pods().find((each) => isStaticPod(each) && podFullName(each) === fullName);
    const seen = pods.mirrors().find((each) => podFullName(each) === fullName);
    const mirror = seen?.metadata.uid === attempt.removedUid ? undefined : seen;
    const node = ports.node();
    const action = mirrorAction({
      pod,
      mirror,
      isTerminating:
        workers.isTerminatingByFullName(fullName) || (pod !== undefined && isOnItsWayOut(pod.metadata.uid, workers)),
      areSourcesReady: ports.areSourcesReady(),
      isNodeKnown: node !== undefined,
    });
    if (action === 'none') {
      // What was waited for is there.
      if (mirror) attempts.delete(fullName);
      return EMPTY;
    }
    if (attempt.notBefore !== undefined && scheduler.now() < attempt.notBefore) return EMPTY;

    const remove$ = mirror
      ? remove(mirror, ports).pipe(
          tap({ complete: () => attempts.set(fullName, { ...attempt, removedUid: mirror.metadata.uid }) }),
        )
      : EMPTY;
    const create$ =
      pod && node && action !== 'remove'
        ? create(pod, node, ports).pipe(
            tap({
              complete: () => {
                const { removedUid } = attempts.get(fullName) ?? {};
                attempts.set(fullName, {
                  ...(removedUid !== undefined && { removedUid }),
                  notBefore: scheduler.now() + MIRROR_ECHO_MS,
                });
              },
            }),
          )
        : EMPTY;
    return concat(remove$, create$).pipe(
      catchError((error: unknown) => {
        const failures = (attempt.failures ?? 0) + 1;
        const waitMs = jittered(Math.min(RETRY_INITIAL_MS * 2 ** (failures - 1), RETRY_MAX_MS), random);
        attempts.set(fullName, { ...attempts.get(fullName), failures, notBefore: scheduler.now() + waitMs });
        const fields = { pod: fullName, action, error: errorText(error), retryInMs: Math.round(waitMs) };
        log.warn(fields, 'the mirror of a static pod is not as it should be; it is tried again');
        return EMPTY;
      }),
    );
  });

/** A pod that has ended by itself is still wanted, and its mirror is to say how it ended. */
const isOnItsWayOut = (uid: string, workers: MirrorPodPorts['workers']): boolean =>
  workers.isTerminationRequested(uid) && !workers.isKnownTerminated(uid);

/** Completes once it is gone, whoever removed it; another pod of the name stays. */
const remove = ({ metadata: { namespace, name, uid } }: Pod, { api, log }: MirrorPodPorts): Observable<never> =>
  defer(() => {
    log.info({ pod: name, namespace, uid }, 'a mirror is removed: it is out of date, or its static pod is not wanted');
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

/** Completes once the API has it. */
const create = (pod: Pod, node: NodeIdentity, { api, log }: MirrorPodPorts): Observable<never> =>
  defer(() => {
    const { namespace, name, uid } = pod.metadata;
    log.info({ pod: name, namespace, uid }, 'a mirror is made of a static pod');
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
