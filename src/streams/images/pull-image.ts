import { catchError, concatMap, defer, finalize, map, type Observable, of, tap, throwError } from 'rxjs';
import type { DeepPartial, PodSandboxConfig } from '../../generated/runtime/v1/api.js';
import { pullErrorText } from '../../model/images/pull-error.js';
import type { PullCredential } from '../../model/images/pull-secret.js';
import { SyncCancelled } from '../../model/pod-actions/sync-error.js';
import type { Pulled } from './pull-ledger.js';
import { journaled, journal, type PodSyncContext } from '../pod-sync/pod-sync-context.js';

/** The image that the runtime pulls, and the container of the pod for which it does. */
export interface PullRequest {
  readonly image: string;
  readonly userSpecifiedImage: string;
  readonly container: string;
  readonly sandboxConfig: DeepPartial<PodSandboxConfig>;
}

/** Every attempt to pull an image failed. `message` is the text for events and the status. */
class PullFailed extends Error {
  override readonly name = 'PullFailed';
  constructor(readonly errors: readonly unknown[]) {
    super(pullErrorText(errors), { cause: errors.at(-1) });
  }
}

/**
 * Pulls with one credential after the other until one works; without credentials, once and anonymously. Each attempt is written to
 * the journal, without the credentials.
 *
 * Errors: `PullFailed`.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_image.go PullImage
 */
export const pullImage = (
  context: PodSyncContext,
  request: PullRequest,
  credentials: readonly PullCredential[],
): Observable<Pulled> =>
  defer(() => {
    const { podStarts, wallClock } = context.ports;
    const { uid } = context.pod.metadata;
    podStarts?.pullStarted(uid, wallClock());
    return tryInTurn(context, request, credentials.length > 0 ? credentials : [undefined], []).pipe(
      finalize(() => podStarts?.pullEnded(uid, wallClock())),
    );
  });

const tryInTurn = (
  context: PodSyncContext,
  request: PullRequest,
  [credential, ...others]: readonly (PullCredential | undefined)[],
  failures: readonly unknown[],
): Observable<Pulled> =>
  attempt(context, request, credential).pipe(
    map((imageRef) => ({ imageRef, credential })),
    catchError((error: unknown) => {
      const errors = [...failures, error];
      return others.length > 0 ? tryInTurn(context, request, others, errors) : throwError(() => new PullFailed(errors));
    }),
  );

const attempt = (
  context: PodSyncContext,
  { image, userSpecifiedImage, container, sandboxConfig }: PullRequest,
  credential: PullCredential | undefined,
): Observable<string> =>
  defer(() => {
    const { images, scheduler } = context.ports;
    const annotations = { ...context.pod.metadata.annotations };
    const { username, password, identityToken } = credential ?? {};
    const call$ = images.pullImage({
      image: { image, userSpecifiedImage, annotations },
      auth: credential && { username, password, identityToken },
      sandboxConfig,
    });
    const target = { target: userSpecifiedImage, container };
    const startedAt = scheduler.now();
    const givenUp = (): void => {
      const durationMs = scheduler.now() - startedAt;
      journal(context, { kind: 'call', call: 'PullImage', ...target, durationMs, error: new SyncCancelled().message });
    };
    return journaled(context, 'PullImage', target, call$).pipe(
      tap({ unsubscribe: () => context.signal?.aborted && givenUp() }),
      concatMap(({ imageRef }) =>
        imageRef === ''
          ? throwError(() => new Error(`imageRef of image ${JSON.stringify(image)} is not set`))
          : of(imageRef),
      ),
    );
  });
