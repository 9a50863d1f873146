import { catchError, concatMap, defer, map, type Observable, of, tap, throwError } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import { formatGoDuration } from '../../model/values/go-duration.js';
import {
  afterFailedPull,
  decideImageBackOff,
  imageBackOffKey,
  type PullFailure,
} from '../../model/images/image-back-off.js';
import {
  type ImageReference,
  parseImageReference,
  repositoryOf,
  withDefaultTag,
} from '../../model/images/image-reference.js';
import type { ImagePulls } from '../../model/pod-actions/back-offs.js';
import type { Container, EphemeralContainer } from '../../model/pod/pod.js';
import { isStartWait, type StartWait } from '../../model/pod-actions/start-wait.js';
import { ContainerSyncError, SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import { type Pulled, PullNotRecorded } from './pull-ledger.js';
import type { Sandbox } from '../pod-sync/ensure-sandbox.js';
import { emitEvent, journal, type PodSyncContext } from '../pod-sync/pod-sync-context.js';
import { pullCredentials, secretCredentials } from './pull-credentials.js';
import { pullImage } from './pull-image.js';

/** An image that is present: its id for the runtime, and its user, which counts unless the pod sets one. */
export interface PresentImage {
  readonly id: string;
  readonly user: { readonly uid?: bigint; readonly username: string };
}

interface Inspected extends PresentImage {
  readonly size: bigint;
}

/** The image of one container, for one sync. */
interface ImageRequest {
  readonly context: PodSyncContext;
  readonly container: string;
  /** The image in the spec of the pod. */
  readonly image: string;
  readonly reference: ImageReference;
  readonly sandboxConfig: Sandbox['config'];
  readonly fail: (reason: string, message: string, cause?: unknown) => ContainerSyncError;
}

/**
 * Emits the image of the container once it is present, after a pull if the pull policy requires one. Emits a wait instead during the
 * back-off after a failed pull.
 *
 * Errors: `ContainerSyncError` by the reason that the status shows: InvalidImageName, ErrImageNeverPull, ErrImagePull, ...
 * Source: pkg/kubelet/images/image_manager.go EnsureImageExists
 */
export const ensureImage = (
  context: PodSyncContext,
  { name, image = '', imagePullPolicy }: Container | EphemeralContainer,
  pulls: ImagePulls,
  { config: sandboxConfig }: Pick<Sandbox, 'config'>,
): Observable<PresentImage | StartWait> =>
  defer(() => {
    const fail: ImageRequest['fail'] = (reason, message, cause) =>
      new ContainerSyncError(name, reason, message, { cause });
    const ensured = (isPresent?: boolean, mustPull?: boolean): void =>
      context.ports.metrics.imageEnsured(imagePullPolicy, isPresent, mustPull);
    const parsed = parseImageReference(image);
    if ('problem' in parsed) {
      ensured();
      const message = `Failed to apply default image tag "${image}": ${parsed.problem}`;
      emitEvent(context, 'Warning', 'InspectFailed', message, name);
      return throwError(() => fail('InvalidImageName', message));
    }
    const request: ImageRequest = { context, container: name, image, reference: parsed.reference, sandboxConfig, fail };
    if (imagePullPolicy === 'Always') {
      ensured(undefined, true);
      return pull(request, pulls);
    }
    return inspectOrFail(request).pipe(
      tap({ error: () => ensured() }),
      concatMap((found) => {
        if (!found) return of({ isPresent: false, usable: undefined });
        return mayHave(request, found).pipe(
          tap({ error: () => ensured(true) }),
          map((isUsable) => ({ isPresent: true, usable: isUsable ? found : undefined })),
        );
      }),
      concatMap(({ isPresent, usable }) => {
        // Upstream does not get to this question when the image is missing and may not be pulled.
        ensured(isPresent, !isPresent && imagePullPolicy === 'Never' ? undefined : !usable);
        if (usable) {
          const proven = context.ports.pullLedger.isOn ? ' and can be accessed by the pod' : '';
          const message = `Container image "${image}" already present on machine${proven}`;
          emitEvent(context, 'Normal', 'Pulled', message, name);
          return of(usable);
        }
        if (imagePullPolicy !== 'Never') return pull(request, pulls);
        // The message is the same for a missing image and one that is not allowed, to disclose nothing about the images of others.
        const message = `Container image "${image}" is not present with pull policy of Never`;
        emitEvent(context, 'Warning', 'ErrImageNeverPull', message, name);
        return throwError(() => fail('ErrImageNeverPull', message));
      }),
    );
  });

const mayHave = ({ context, image, reference, fail }: ImageRequest, { id }: PresentImage): Observable<boolean> =>
  context.ports.pullLedger.mayHave(image, id, secretCredentials(context, repositoryOf(reference))).pipe(
    catchError((error: unknown) => throwError(() => fail('ErrImagePull', errorText(error), error))),
    errorOnAbort(context.signal, () => new SyncCancelled()),
  );

/** The image that the runtime has under this name; undefined if it has none. */
const inspect = ({ context, image, reference }: ImageRequest): Observable<Inspected | undefined> => {
  const spec = { image: withDefaultTag(image, reference), userSpecifiedImage: image };
  return context.ports.images
    .imageStatus({ image: spec })
    .pipe(
      map(({ image: found }) =>
        found && found.id !== ''
          ? { id: found.id, user: { uid: found.uid?.value, username: found.username }, size: found.size }
          : undefined,
      ),
    );
};

const inspectOrFail = (request: ImageRequest): Observable<Inspected | undefined> =>
  inspect(request).pipe(catchError((error: unknown) => throwError(() => inspectionFailed(request, error))));

const inspectionFailed = ({ context, image, container, fail }: ImageRequest, error: unknown): ContainerSyncError => {
  const message = `Failed to inspect image "${image}": ${errorText(error)}`;
  emitEvent(context, 'Warning', 'InspectFailed', message, container);
  return fail('ImageInspectError', message, error);
};

const pull = (request: ImageRequest, pulls: ImagePulls): Observable<PresentImage | StartWait> =>
  defer(() => {
    const { context, image, reference, fail } = request;
    const brought$ = defer((): Observable<PullResult | StartWait> => {
      const wait = pullWait(request, pulls);
      if (wait) return of(wait);
      return pullCredentials(context, repositoryOf(reference)).pipe(
        catchError((error: unknown) => throwError(() => fail('ErrImagePull', errorText(error), error))),
        concatMap((credentials) => pullInTurn(request, pulls, credentials)),
      );
    });
    return brought$.pipe(
      // A pull does not change the pod, so it is cancelled at once when the pod has to stop, even while it waits.
      errorOnAbort(context.signal, () => new SyncCancelled()),
      context.ports.pullLedger.remember(image),
      catchError((error: unknown) =>
        throwError(() => (error instanceof PullNotRecorded ? fail('ErrImagePull', error.message, error) : error)),
      ),
      concatMap((brought) => (isStartWait(brought) ? of(brought) : presentAfterPull(request, brought))),
    );
  });

/** Returns the wait after a failed pull, with its journal entry and its event; undefined when the image may be pulled now. */
const pullWait = (
  { context, container, image }: ImageRequest,
  { backOffOf, failureOf }: ImagePulls,
): StartWait | undefined => {
  const key = imageBackOffKey(context.pod, image);
  const { scheduler, wallClock } = context.ports;
  const now = scheduler.now();
  const verdict = decideImageBackOff({ entry: backOffOf(key), image, lastFailure: failureOf(key), now });
  if (!verdict.blocked) return undefined;
  const { message, eventMessage, delayMs, leftMs, step, steps, resetAfterMs } = verdict;
  const until = wallClock() + Math.ceil(leftMs);
  journal(context, { kind: 'back-off', subject: 'image-pull', container, delayMs, until, step, steps, resetAfterMs });
  emitEvent(context, 'Normal', 'BackOff', eventMessage, container);
  return { container, reason: 'ImagePullBackOff', message };
};

/** The result of a pull. The image is read while the pull still has its slot, for its size. */
interface PullResult extends Pulled {
  readonly pullMs: number;
  readonly found: Inspected | undefined;
  readonly inspectError?: unknown;
}

const pullInTurn = (
  request: ImageRequest,
  pulls: ImagePulls,
  credentials: Parameters<typeof pullImage>[2],
): Observable<PullResult> =>
  defer(() => {
    const { context, container, image, reference, sandboxConfig, fail } = request;
    const { pullQueue, scheduler } = context.ports;
    const key = imageBackOffKey(context.pod, image);
    emitEvent(context, 'Normal', 'Pulling', `Pulling image "${image}"`, container);
    const queuedAt = scheduler.now();
    const asked = {
      image: withDefaultTag(image, reference),
      userSpecifiedImage: image,
      ...{ container, sandboxConfig },
    };
    const brought$ = defer(() => {
      const startedAt = scheduler.now();
      return pullImage(context, asked, credentials).pipe(
        concatMap((pulled) =>
          inspect(request).pipe(
            map((found) => ({ found })),
            catchError((inspectError: unknown) => of({ found: undefined, inspectError })),
            map((seen): PullResult => ({ ...pulled, pullMs: scheduler.now() - startedAt, ...seen })),
          ),
        ),
      );
    });
    return brought$.pipe(
      pullQueue(),
      catchError((error: unknown) => {
        const text = errorText(error);
        const failure = pullFailure(image, text);
        pulls.ended(key, { entry: afterFailedPull(pulls.backOffOf(key), scheduler.now()), failure });
        emitEvent(context, 'Warning', 'Failed', `Failed to pull image "${image}": ${text}`, container);
        return throwError(() => fail(failure.reason, failure.message, error));
      }),
      tap((brought) => {
        // The back-off stays, in case the next pull fails: a registry that works now and then does not get more requests.
        pulls.ended(key);
        const totalMs = scheduler.now() - queuedAt;
        emitEvent(context, 'Normal', 'Pulled', pulledText(image, brought, totalMs), container);
        context.ports.metrics.imagePulled(Math.trunc(totalMs) / 1000, brought.found?.size ?? 0n);
      }),
    );
  });

const presentAfterPull = (
  request: ImageRequest,
  { imageRef, found, inspectError }: PullResult,
): Observable<PresentImage> => {
  if (inspectError !== undefined) return throwError(() => inspectionFailed(request, inspectError));
  if (found) return of({ ...found, id: imageRef });
  return throwError(() => request.fail('ErrImagePull', `image "${request.image}" was pulled but is not present`));
};

/** The message of the event. Durations are truncated to milliseconds. */
const pulledText = (image: string, { pullMs, found }: PullResult, totalMs: number): string => {
  const [took, total] = [pullMs, totalMs].map((ms) => formatGoDuration(Math.trunc(ms)));
  return `Successfully pulled image "${image}" in ${took} (${total} including waiting). Image size: ${found?.size ?? 0n} bytes.`;
};

/** Whether a container does not start since the pull of its image has just failed. */
export const isFailedPull = (problem: ContainerSyncError | StartWait | undefined): boolean =>
  problem instanceof ContainerSyncError &&
  [PULL_FAILED, ...KNOWN_FAILURES.map(([reason]) => reason)].includes(problem.reason);

const pullFailure = (image: string, text: string): PullFailure => {
  for (const [reason, words] of KNOWN_FAILURES) {
    if (text.startsWith(reason))
      return { reason, message: `image pull failed for ${image} because the ${words}${text.slice(reason.length)}` };
  }
  return { reason: PULL_FAILED, message: text };
};

const PULL_FAILED: string = 'ErrImagePull';

const KNOWN_FAILURES = [
  ['RegistryUnavailable', 'registry is unavailable'],
  ['SignatureValidationFailed', 'signature validation failed'],
] as const;
