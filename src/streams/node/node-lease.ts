import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  repeat,
  retry,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isConflict, isNotFound } from '../../model/api/api-error.js';
import { leasePath, leasesPath, nodePath } from '../../model/api/api-paths.js';
import { errorText } from '../../model/cri-error.js';
import { hasOwner, type Lease, NODE_LEASES, renewedLease } from '../../model/node/lease.js';
import type { Node } from '../../model/node/node.js';
import type { ApiClient } from '../api/api-client.js';
import type { Logger, Random, WallClock } from '../ports.js';

/** A lease is renewed four times before it runs out, each time up to 4 % later. Source: pkg/kubelet/kubelet.go */
export const LEASE_RENEWALS = 4;
export const LEASE_JITTER = 0.04;
/** Source: staging/src/k8s.io/component-helpers/apimachinery/lease/controller.go. Milliseconds. */
export const LEASE_TRIES = 5;
export const LEASE_RETRY_INITIAL_MS = 200;
export const LEASE_RETRY_MAX_MS = 7_000;

export interface NodeLeaseOptions {
  /** Without a limit of rate, and with a short time-out. */
  readonly heartbeats: Pick<ApiClient, 'get' | 'create' | 'update'>;
  readonly nodeName: string;
  readonly durationSeconds: number;
  /** Of the Node, as far as it is known without asking: the lease of one that was deleted goes over to the one that is made anew. */
  readonly nodeUid: () => string | undefined;
  /** Heartbeats fail again and again: connections may be dead without anybody having said so. */
  readonly resetConnections: () => void;
  readonly log: Logger;
  readonly random: Random;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/** The lease as the server has it; without one where it could not be made, because its owner is not known. */
interface Ensured {
  readonly lease?: Lease;
  readonly isNew: boolean;
}

/**
 * Renews the lease of the node at once and then every quarter of its duration (and up to 4 % later) after each renewal; makes it where
 * there is none. Renewals trust what the server answered last, so that they take one request each.
 *
 * Errors: none; what goes wrong is said and tried again.
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

    /** What is written next; a lease without an owner gets one. Errors: `ApiError`, where the Node cannot be read. */
    const renewed = (base: Lease | undefined): Observable<Lease> => {
      const owner$: Observable<Node | undefined> = hasOwner(base, nodeUid())
        ? of(undefined)
        : heartbeats.get<Node>(nodePath(nodeName));
      return owner$.pipe(map((owner) => renewedLease(base, { nodeName, durationSeconds, owner, now: wallClock() })));
    };

    const create$ = renewed(undefined).pipe(
      catchError((error: unknown) => {
        log.error(
          { node: nodeName, error: errorText(error) },
          'the lease of the node has no owner yet and is not made',
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
      let waitMs = LEASE_RETRY_INITIAL_MS;
      return heartbeats.get<Lease>(path).pipe(
        map((lease): Ensured => ({ lease, isNew: false })),
        catchError((error: unknown) => (isNotFound(error) ? create$ : throwError(() => error))),
        retry({
          delay: (error: unknown) => {
            const [delayMs, text] = [waitMs, errorText(error)];
            waitMs = Math.min(2 * waitMs, LEASE_RETRY_MAX_MS);
            log.error({ node: nodeName, error: text, retryInMs: delayMs }, 'the lease of the node cannot be had');
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
              // Somebody else has written it since.
              return ensure$.pipe(tap(({ lease }) => (base = lease ?? base)));
            },
          }),
        );
      });

    const ensureAndUpdate$ = ensure$.pipe(
      tap(({ lease }) => (latest = lease)),
      concatMap(({ lease, isNew }) => (lease === undefined || isNew ? EMPTY : update(lease))),
    );
    const pass$ = defer(() =>
      latest === undefined ? ensureAndUpdate$ : update(latest).pipe(catchError(() => ensureAndUpdate$)),
    ).pipe(
      catchError((error: unknown) => {
        log.error({ node: nodeName, error: errorText(error) }, 'the lease of the node is not renewed: no try is left');
        return EMPTY;
      }),
    );
    const periodMs = (durationSeconds * 1_000) / LEASE_RENEWALS;
    return pass$.pipe(repeat({ delay: () => timer(periodMs * (1 + LEASE_JITTER * random()), scheduler) }));
  });
