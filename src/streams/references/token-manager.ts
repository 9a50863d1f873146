import { Map as ImmutableMap } from 'immutable';
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
import {
  type PodTokens,
  timeForToken,
  tokenAnswered,
  type TokenClock,
  tokenIssued,
  withoutExpiredTokens,
  withoutTokensOf,
} from '../../model/references/pod-tokens.js';
import { isExpired, needsRefresh } from '../../model/references/token-refresh.js';
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
  /** A pod that is refused for good waits once: no request of a purpose with an entry waits for the authorizer. */
  let tokens: PodTokens = ImmutableMap();
  /** The running requests, by `tokenKey`. */
  const asked = new Map<string, Asked>();
  const clock = (): TokenClock => ({ wallClock: wallClock(), now: scheduler.now() });

  const ask = (purpose: TokenPurpose, key: string): Asked => {
    const { pod, namespace, serviceAccount } = purpose;
    const podUid = pod.metadata.uid;
    // A token of a pod that was forgotten meanwhile is not kept: it would not be dropped.
    const change = (next: (before: PodTokens) => PodTokens): void => {
      if (asked.get(key) === asking) tokens = next(tokens);
    };
    const answered = (): void => change((before) => tokenAnswered(before, key, podUid));
    const asking: Asked = {
      podUid,
      token$: defer(() =>
        api.create(serviceAccountTokenPath(namespace, serviceAccount), tokenRequestBody(purpose)),
      ).pipe(
        retry({
          delay: (error: unknown, refusals) => {
            const lagMs = tokens.has(key) || !isForbidden(error) ? undefined : TOKEN_GRANT_LAG_MS[refusals - 1];
            return lagMs === undefined ? throwError(() => error) : timer(lagMs, scheduler);
          },
        }),
        tap({ next: answered, error: answered }),
        map((reply) => readTokenReply(reply, purpose)),
        tap((issued) => change((before) => tokenIssued(before, key, podUid, { issued, receivedAt: scheduler.now() }))),
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
        const held = tokens.get(key)?.held;
        if (held && !needsRefresh(held.issued, timeForToken(held, clock()), random())) return of(held.issued);
        return (asked.get(key) ?? ask(purpose, key)).token$.pipe(
          catchError((error: unknown) => {
            if (!held) return throwError(() => failure(`failed to fetch token: ${errorText(error)}`, error));
            if (isExpired(held.issued, timeForToken(held, clock()))) {
              return throwError(() => failure(`token ${key} expired and refresh failed: ${errorText(error)}`, error));
            }
            log.error({ key, error: errorText(error) }, 'a token could not be renewed, the old one is still valid');
            return of(held.issued);
          }),
        );
      }).pipe(map(({ token, expiresAt }): PodToken => ({ token, expiresAt }))),
    forget: (podUid) => {
      tokens = withoutTokensOf(tokens, podUid);
      for (const [key, of] of asked) if (of.podUid === podUid) asked.delete(key);
    },
    run$: timer(TOKEN_CLEANUP_MS, TOKEN_CLEANUP_MS, scheduler).pipe(
      tap(() => (tokens = withoutExpiredTokens(tokens, clock()))),
      ignoreElements(),
    ),
  };
};

interface Asked {
  readonly podUid: string;
  readonly token$: Observable<IssuedToken>;
}

const failure = (message: string, cause: unknown): Error => new Error(message, { cause });
