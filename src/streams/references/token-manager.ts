import {
  catchError,
  defer,
  finalize,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  share,
  tap,
  throwError,
  timer,
} from 'rxjs';
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

  const ask = (purpose: TokenPurpose, key: string): Asked => {
    const { pod, namespace, serviceAccount } = purpose;
    const podUid = pod.metadata.uid;
    const asking: Asked = {
      podUid,
      token$: defer(() =>
        api.create(serviceAccountTokenPath(namespace, serviceAccount), tokenRequestBody(purpose)),
      ).pipe(
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
