import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isConflict, isNotFound } from '../../model/kube-api/api-error.js';
import { leasePath, leasesPath, nodePath } from '../../model/kube-api/api-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import { hasOwner, type Lease, NODE_LEASES, renewedLease } from '../../model/node/lease.js';
import type { Node } from '../../model/node/node.js';
import { every } from '../operators/every.js';
import { type Backoff, nextDelay } from '../../model/values/back-off.js';
import type { ApiClient } from '../cluster/api-client.js';
import type { Logger } from '../ports/logger.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';

/** A lease is renewed four times before it expires, each time up to 4 % later. Source: pkg/kubelet/kubelet.go */
export const LEASE_RENEWALS = 4;
export const LEASE_JITTER = 0.04;
/** Source: staging/src/k8s.io/component-helpers/apimachinery/lease/controller.go. Milliseconds. */
export const LEASE_TRIES = 5;
export const LEASE_BACKOFF: Backoff = { initialMs: 200, maxMs: 7_000 };

export interface NodeLeaseOptions {
  /** Without a limit of rate, and with a short time-out. */
  readonly heartbeats: Pick<ApiClient, 'get' | 'create' | 'update'>;
  readonly nodeName: string;
  readonly durationSeconds: number;
  /** The UID of the Node, as far as the watch knows it: the lease of a deleted Node passes to the Node that replaces it. */
  readonly nodeUid: () => string | undefined;
  /** Called after repeated failures of heartbeats: connections may be dead without an error. */
  readonly resetConnections: () => void;
  readonly log: Logger;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** The lease of the server; undefined if it was not created because its owner is not known. */
interface Ensured {
  readonly lease?: Lease;
  readonly isNew: boolean;
}

/**
 * Renews the lease of the node at once and then a quarter of its duration (and up to 4 %) after each renewal; creates it if there
 * is none. A renewal starts from the last answer of the server, so it takes one request.
 *
 * Errors: none; failures are logged and retried.
 * Ends:   never.
 * Source: staging/src/k8s.io/component-helpers/apimachinery/lease/controller.go
 */
export const nodeLease = ({
  heartbeats,
  nodeName,
  durationSeconds,
  nodeUid,
  resetConnections,
  log,
  random,
  scheduler,
  wallClock,
}: NodeLeaseOptions): Observable<never> =>
  defer(() => {
    const path = leasePath(NODE_LEASES, nodeName);
    let latest: Lease | undefined;

    /** Emits the next lease to write; a lease without an owner gets one. Errors: `ApiError` if the Node cannot be read. */
    const renewed = (base: Lease | undefined): Observable<Lease> => {
      const owner$: Observable<Node | undefined> = hasOwner(base, nodeUid())
        ? of(undefined)
        : heartbeats.get<Node>(nodePath(nodeName));
      return owner$.pipe(map((owner) => renewedLease(base, { nodeName, durationSeconds, owner, now: wallClock() })));
    };

    const create$ = renewed(undefined).pipe(
      catchError((error: unknown) => {
        // Until the node is registered it is not found, which is usual at the first start.
        log[isNotFound(error) ? 'info' : 'error'](
          { node: nodeName, error: errorText(error) },
          'the lease of the node is not created: its owner is not known yet',
        );
        return of(undefined);
      }),
      concatMap((lease): Observable<Ensured> =>
        lease === undefined
          ? of({ isNew: false })
          : heartbeats
              .create<Lease>(leasesPath(NODE_LEASES), lease)
              .pipe(map((made) => ({ lease: made, isNew: true }))),
      ),
    );

    const ensure$ = defer(() => {
      return heartbeats.get<Lease>(path).pipe(
        map((lease): Ensured => ({ lease, isNew: false })),
        catchError((error: unknown) => (isNotFound(error) ? create$ : throwError(() => error))),
        retry({
          delay: (error: unknown, failures) => {
            const delayMs = nextDelay(LEASE_BACKOFF, failures);
            log.error(
              { node: nodeName, error: errorText(error), retryInMs: delayMs },
              'cannot read the lease of the node',
            );
            return timer(delayMs, scheduler);
          },
        }),
      );
    });

    const update = (from: Lease): Observable<never> =>
      defer(() => {
        let base = from;
        let failures = 0;
        return defer(() => renewed(base)).pipe(
          concatMap((lease) => heartbeats.update<Lease>(path, lease)),
          tap((lease) => (latest = lease)),
          ignoreElements(),
          retry({
            delay: (error: unknown) => {
              failures += 1;
              log.error({ node: nodeName, error: errorText(error) }, 'the lease of the node could not be renewed');
              const isConflicting = isConflict(error);
              if (!isConflicting && failures > 1) resetConnections();
              if (failures >= LEASE_TRIES) return throwError(() => error);
              if (!isConflicting) return of(true);
              // Another client has written it meanwhile.
              return ensure$.pipe(tap(({ lease }) => (base = lease ?? base)));
            },
          }),
        );
      });

    const ensureAndUpdate$ = ensure$.pipe(
      tap(({ lease }) => (latest = lease)),
      concatMap(({ lease, isNew }) => (lease === undefined || isNew ? EMPTY : update(lease))),
    );
    const renewal$ = defer(() =>
      latest === undefined ? ensureAndUpdate$ : update(latest).pipe(catchError(() => ensureAndUpdate$)),
    ).pipe(
      catchError((error: unknown) => {
        log.error(
          { node: nodeName, error: errorText(error) },
          'the lease of the node is not renewed: all attempts failed',
        );
        return EMPTY;
      }),
    );
    const periodMs = (durationSeconds * 1_000) / LEASE_RENEWALS;
    return every({ periodMs: () => periodMs * (1 + LEASE_JITTER * random()), scheduler }, () => renewal$);
  });
