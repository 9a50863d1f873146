import {
  catchError,
  defer,
  finalize,
  ignoreElements,
  map,
  type Observable,
  of,
  retry,
  type SchedulerLike,
  share,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { isForbidden } from '../../model/kube-api/api-error.js';
import { serviceAccountTokenPath } from '../../model/kube-api/api-paths.js';
import { isExpired, issuedAtOf, needsRefresh } from '../../model/references/token-refresh.js';
import {
  type IssuedToken,
  readTokenReply,
  tokenKey,
  type TokenPurpose,
  tokenRequestBody,
} from '../../model/references/token-request.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Logger } from '../ports/logger.js';
import type { PodToken, RequestPodToken } from '../ports/request-pod-token.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { ApiClient } from '../cluster/api-client.js';
import { GRANT_LAG_MS } from './follow-referenced.js';

/**
 * The waits after refusals of the first request of a pod, in milliseconds: the authorizer of the server may not have seen yet that the
 * pod is on this node. A refusal that lasts longer is a failure.
 */
export const TOKEN_GRANT_LAG_MS: readonly number[] = [...GRANT_LAG_MS, 1_600];

/** The period in which expired tokens are dropped. */
export const TOKEN_CLEANUP_MS = 60_000;

export interface TokenManagerPorts {
  readonly api: Pick<ApiClient, 'create'>;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
  readonly random: Random;
  readonly log: Logger;
}

export interface TokenManager {
  readonly podToken: RequestPodToken;
  /** Drops the tokens of a pod. */
  readonly forget: (podUid: string) => void;
  /** Drops tokens that have expired. Emits nothing, never ends and never errors. */
  readonly run$: Observable<never>;
}

/**
 * Makes the manager of tokens for pods, one for each purpose. A token is requested when a caller needs one and there is no fresh one. If the
 * request fails, the old token is used while it is valid. Callers for the same purpose wait for the same request.
 *
 * Source: pkg/kubelet/token/token_manager.go
 */
export const tokenManager = ({ api, scheduler, wallClock, random, log }: TokenManagerPorts): TokenManager => {
  const kept = new Map<string, Kept>();
  /** The time of day, unless the clock is behind: a token is at least as old as the time since its receipt. */
  const nowFor = ({ issued, receivedAt }: Kept): number =>
    Math.max(wallClock(), issuedAtOf(issued) + scheduler.now() - receivedAt);
  const asked = new Map<string, Asked>();
  /** The purposes whose waits are over, with the UIDs of their pods: a pod that is refused for good does not wait each time. */
  const lagged = new Map<string, string>();

  const ask = (purpose: TokenPurpose, key: string): Asked => {
    const { pod, namespace, serviceAccount } = purpose;
    const podUid = pod.metadata.uid;
    const asking: Asked = {
      podUid,
      token$: defer(() =>
        api.create(serviceAccountTokenPath(namespace, serviceAccount), tokenRequestBody(purpose)),
      ).pipe(
        retry({
          delay: (error: unknown, refusals) => {
            const lagMs = lagged.has(key) || !isForbidden(error) ? undefined : TOKEN_GRANT_LAG_MS[refusals - 1];
            return lagMs === undefined ? throwError(() => error) : timer(lagMs, scheduler);
          },
        }),
        // Any answer shows that the wait is over.
        tap({
          next: () => asked.get(key) === asking && lagged.set(key, podUid),
          error: () => asked.get(key) === asking && lagged.set(key, podUid),
        }),
        map((reply) => readTokenReply(reply, purpose)),
        // A token of a pod that was forgotten meanwhile is not kept: it would not be dropped.
        tap((issued) => asked.get(key) === asking && kept.set(key, { podUid, issued, receivedAt: scheduler.now() })),
        finalize(() => asked.get(key) === asking && asked.delete(key)),
        share(),
      ),
    };
    asked.set(key, asking);
    return asking;
  };

  return {
    podToken: (purpose) =>
      defer(() => {
        const key = tokenKey(purpose);
        const found = kept.get(key);
        const before = found?.issued;
        if (found && !needsRefresh(found.issued, nowFor(found), random())) return of(found.issued);
        return (asked.get(key) ?? ask(purpose, key)).token$.pipe(
          catchError((error: unknown) => {
            if (!found || !before)
              return throwError(() => failure(`failed to fetch token: ${errorText(error)}`, error));
            if (isExpired(before, nowFor(found))) {
              return throwError(() => failure(`token ${key} expired and refresh failed: ${errorText(error)}`, error));
            }
            log.error({ key, error: errorText(error) }, 'a token could not be renewed, the old one is still valid');
            return of(before);
          }),
        );
      }).pipe(map(({ token, expiresAt }): PodToken => ({ token, expiresAt }))),
    forget: (podUid) => {
      for (const [key, of] of kept) if (of.podUid === podUid) kept.delete(key);
      for (const [key, of] of asked) if (of.podUid === podUid) asked.delete(key);
      for (const [key, uid] of lagged) if (uid === podUid) lagged.delete(key);
    },
    run$: timer(TOKEN_CLEANUP_MS, TOKEN_CLEANUP_MS, scheduler).pipe(
      tap(() => {
        for (const [key, one] of kept) if (isExpired(one.issued, nowFor(one))) kept.delete(key);
      }),
      ignoreElements(),
    ),
  };
};

interface Kept {
  readonly podUid: string;
  readonly issued: IssuedToken;
  /** The scheduler's milliseconds. */
  readonly receivedAt: number;
}

interface Asked {
  readonly podUid: string;
  readonly token$: Observable<IssuedToken>;
}

const failure = (message: string, cause: unknown): Error => new Error(message, { cause });
