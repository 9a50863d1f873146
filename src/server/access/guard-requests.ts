import type { IncomingMessage, RequestListener } from 'node:http';
import {
  catchError,
  concatMap,
  defer,
  first,
  from,
  fromEvent,
  lastValueFrom,
  map,
  type Observable,
  of,
  switchMap,
  takeUntil,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import {
  authenticate,
  type Authentication,
  type AuthenticationRules,
  type TokenVerdict,
} from '../../model/server/authenticate.js';
import { authorizationErrorText, forbiddenText, requestAttributes } from '../../model/server/request-attributes.js';
import { requestPath } from '../../model/server/request-path.js';
import type { RequestUser } from '../../model/server/request-user.js';
import type { AuthenticateToken } from '../../streams/ports/authenticate-token.js';
import type { AuthorizeAccess } from '../../streams/ports/authorize-access.js';
import type { Logger } from '../../streams/ports/logger.js';
import { type Answer, send } from '../routes/http-routes.js';
import { presentedCredentials } from './presented-credentials.js';

export interface GuardOptions {
  readonly nodeName: string;
  readonly rules: AuthenticationRules;
  readonly authenticateToken: AuthenticateToken;
  readonly authorizeAccess: AuthorizeAccess;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Pick<Logger, 'warn'>;
}

/** Any client can cause a failed review, so they do not fill the log. */
const LOG_EVERY_MS = 10_000;

/**
 * Passes on the requests of users with access, and refuses all others: 401 without an accepted credential, 403 without
 * access, 500 if access could not be reviewed. A refusal ends its connection. A review is cancelled when its client disconnects.
 *
 * Source: pkg/kubelet/server/server.go InstallAuthFilter
 */
export const guardRequests = (answer: RequestListener, options: GuardOptions): RequestListener => {
  const refusalOf = refusals(options);
  return (request, response) => {
    lastValueFrom(refusalOf(request).pipe(takeUntil(fromEvent(response, 'close'))), { defaultValue: 'gone' as const })
      .then((refusal) => {
        if (refusal === 'gone') return;
        if (refusal) {
          // Clients without access could keep all connections by requests whose replies they do not read.
          response.shouldKeepAlive = false;
          return send(response, refusal);
        }
        delete request.headers.authorization;
        answer(request, response);
      })
      .catch((error: unknown) => send(response, { status: 500, body: `internal server error: ${errorText(error)}\n` }));
  };
};

/** Emits the reply to a request that is refused, or undefined for one that may pass. */
const refusals = ({ nodeName, rules, authenticateToken, authorizeAccess, now, log }: GuardOptions) => {
  let loggedAt = -Infinity;
  const warn = (error: unknown, message: string): void => {
    // Logged in the future means that the clock was set back since.
    if (loggedAt <= now() && now() - loggedAt < LOG_EVERY_MS) return;
    loggedAt = now();
    log.warn({ error: errorText(error) }, message);
  };

  const userOf = (request: IncomingMessage): Observable<Authentication> => {
    const presented = presentedCredentials(request);
    const afterReviews = (verdicts: readonly (TokenVerdict | 'failed')[]): Observable<Authentication> => {
      const found = authenticate(presented, rules, now(), verdicts);
      if (found.kind !== 'review') return of(found);
      return authenticateToken(found.token).pipe(
        catchError((error: unknown) => {
          warn(error, 'the token of a client of the kubelet API was not accepted');
          return of('failed' as const);
        }),
        switchMap((verdict) => afterReviews([...verdicts, verdict])),
      );
    };
    return afterReviews([]);
  };

  const accessOf = (user: RequestUser, method: string, path: string): Observable<Answer | undefined> => {
    const attributes = requestAttributes(method, path);
    const { verb, subresources } = attributes;
    return from(subresources).pipe(
      concatMap((subresource) =>
        authorizeAccess({ user, verb, subresource, nodeName }).pipe(
          // A failed review ends the questions, even if the next one might be answered.
          catchError((error: unknown) => {
            warn(error, 'cannot review the access of a client of the kubelet API');
            return of<Answer>({ status: 500, body: authorizationErrorText(user, verb, subresource) });
          }),
        ),
      ),
      first((answered) => answered !== false, false),
      map((answered): Answer | undefined => {
        if (answered === true) return undefined;
        return answered === false ? { status: 403, body: forbiddenText(user, attributes) } : answered;
      }),
    );
  };

  return (request: IncomingMessage): Observable<Answer | undefined> =>
    defer(() => {
      const { method = 'GET', url = '/' } = request;
      const path = requestPath(url);
      if (path === undefined) return of<Answer>({ status: 400, body: '400 Bad Request\n' });
      return userOf(request).pipe(
        switchMap((found) =>
          found.kind === 'user'
            ? accessOf(found.user, method, path)
            : of<Answer>({ status: 401, body: 'Unauthorized' }),
        ),
      );
    });
};
