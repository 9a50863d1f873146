import { catchError, concatMap, defer, map, type Observable, of, tap, throwError } from 'rxjs';
import { type BackOffEntry } from '../../model/back-off.js';
import { errorText } from '../../model/cri-error.js';
import { formatGoDuration } from '../../model/go-duration.js';
import { afterFailedPull, decideImageBackOff, imageBackOffKey, type PullFailure } from '../../model/image-back-off.js';
import {
  type ImageReference,
  parseImageReference,
  repositoryOf,
  withDefaultTag,
} from '../../model/images/image-reference.js';
import type { Container, EphemeralContainer } from '../../model/pod.js';
import { ContainerSyncError, SyncCancelled } from '../../model/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import { type Pulled, PullNotRecorded } from '../pull-ledger.js';
import type { Sandbox } from './ensure-sandbox.js';
import { emitEvent, note, type PodSyncContext } from './pod-sync-context.js';
import { pullCredentials, secretCredentials } from './pull-credentials.js';
import { pullImage } from './pull-image.js';

/** What is remembered of failed pulls, by `imageBackOffKey`. */
export interface ImagePulls {
  readonly backOff: Map<string, BackOffEntry>;
  readonly failures: Map<string, PullFailure>;
}

/** An image that is present: its id for the runtime, and who it runs as unless the pod says otherwise. */
export interface PresentImage {
  readonly id: string;
  readonly user: { readonly uid?: bigint; readonly username: string };
}

interface Inspected extends PresentImage {
  readonly size: bigint;
}

/** One look after the image of one container. */
interface Look {
  readonly context: PodSyncContext;
  readonly container: string;
  /** As the pod has it. */
  readonly image: string;
  readonly reference: ImageReference;
  readonly sandboxConfig: Sandbox['config'];
  readonly fail: (reason: string, message: string, cause?: unknown) => ContainerSyncError;
}

/**
 * Emits the image of `container` once it is present, pulling it if its pull policy says so.
 *
 * Errors: `ContainerSyncError` by the reason that the status shows: InvalidImageName, ErrImageNeverPull, ErrImagePull,
 *         ImagePullBackOff, ...
 * Source: pkg/kubelet/images/image_manager.go EnsureImageExists
 */
export const ensureImage = (
  context: PodSyncContext,
  { name, image = '', imagePullPolicy }: Container | EphemeralContainer,
  pulls: ImagePulls,
  { config: sandboxConfig }: Pick<Sandbox, 'config'>,
): Observable<PresentImage> =>
  defer(() => {
    const fail: Look['fail'] = (reason, message, cause) => new ContainerSyncError(name, reason, message, { cause });
    const parsed = parseImageReference(image);
    if ('problem' in parsed) {
      const message = `Failed to apply default image tag "${image}": ${parsed.problem}`;
      emitEvent(context, 'Warning', 'InspectFailed', message, name);
      return throwError(() => fail('InvalidImageName', message));
    }
    const look: Look = { context, container: name, image, reference: parsed.reference, sandboxConfig, fail };
    if (imagePullPolicy === 'Always') return pull(look, pulls);
    return inspectOrFail(look).pipe(
      concatMap((found) => {
        const isUsable$ = found ? mayHave(look, found) : of(false);
        return isUsable$.pipe(map((isUsable) => (isUsable ? found : undefined)));
      }),
      concatMap((usable) => {
        if (usable) {
          const proven = context.ports.pullLedger.isOn ? ' and can be accessed by the pod' : '';
          const message = `Container image "${image}" already present on machine${proven}`;
          emitEvent(context, 'Normal', 'Pulled', message, name);
          return of(usable);
        }
        if (imagePullPolicy !== 'Never') return pull(look, pulls);
        // Whether it is not there or not for this pod is not told, since that would be a hint at what others have.
        const message = `Container image "${image}" is not present with pull policy of Never`;
        emitEvent(context, 'Warning', 'ErrImageNeverPull', message, name);
        return throwError(() => fail('ErrImageNeverPull', message));
      }),
    );
  });

const mayHave = ({ context, image, reference, fail }: Look, { id }: PresentImage): Observable<boolean> =>
  context.ports.pullLedger.mayHave(image, id, secretCredentials(context, repositoryOf(reference))).pipe(
    catchError((error: unknown) => throwError(() => fail('ErrImagePull', errorText(error), error))),
    errorOnAbort(context.signal, () => new SyncCancelled()),
  );

/** What the runtime has under this name. */
const inspect = ({ context, image, reference }: Look): Observable<Inspected | undefined> => {
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

const inspectOrFail = (look: Look): Observable<Inspected | undefined> =>
  inspect(look).pipe(catchError((error: unknown) => throwError(() => inspectionFailed(look, error))));

const inspectionFailed = ({ context, image, container, fail }: Look, error: unknown): ContainerSyncError => {
  const message = `Failed to inspect image "${image}": ${errorText(error)}`;
  emitEvent(context, 'Warning', 'InspectFailed', message, container);
  return fail('ImageInspectError', message, error);
};

const pull = (look: Look, pulls: ImagePulls): Observable<PresentImage> =>
  defer(() => {
    const { context, image, reference, fail } = look;
    const brought$ = defer(() => {
      refuseWhileBackingOff(look, pulls);
      return pullCredentials(context, repositoryOf(reference)).pipe(
        catchError((error: unknown) => throwError(() => fail('ErrImagePull', errorText(error), error))),
        concatMap((credentials) => pullInTurn(look, pulls, credentials)),
      );
    });
    return brought$.pipe(
      // Pulling changes nothing of the pod, so it is given up at once when the pod has to stop, also while it waits.
      errorOnAbort(context.signal, () => new SyncCancelled()),
      context.ports.pullLedger.remember(image),
      catchError((error: unknown) =>
        throwError(() => (error instanceof PullNotRecorded ? fail('ErrImagePull', error.message, error) : error)),
      ),
      concatMap((brought) => presentAfterPull(look, brought)),
    );
  });

const refuseWhileBackingOff = ({ context, container, image, fail }: Look, { backOff, failures }: ImagePulls): void => {
  const key = imageBackOffKey(context.pod, image);
  const now = context.ports.wallClock();
  const verdict = decideImageBackOff({ entry: backOff.get(key), image, lastFailure: failures.get(key), now });
  if (!verdict.blocked) return;
  const { message, eventMessage, delayMs, until, step, steps, resetAfterMs } = verdict;
  note(context, { kind: 'back-off', subject: 'image-pull', container, delayMs, until, step, steps, resetAfterMs });
  emitEvent(context, 'Normal', 'BackOff', eventMessage, container);
  throw fail('ImagePullBackOff', message);
};

/** What a pull has brought; how the image looks is asked while it is still this pull's turn, for its size. */
interface Brought extends Pulled {
  readonly pullMs: number;
  readonly found: Inspected | undefined;
  readonly inspectError?: unknown;
}

const pullInTurn = (look: Look, pulls: ImagePulls, credentials: Parameters<typeof pullImage>[2]): Observable<Brought> =>
  defer(() => {
    const { context, container, image, reference, sandboxConfig, fail } = look;
    const { pullQueue, scheduler, wallClock } = context.ports;
    const key = imageBackOffKey(context.pod, image);
    emitEvent(context, 'Normal', 'Pulling', `Pulling image "${image}"`, container);
    const queuedAt = scheduler.now();
    const request = {
      image: withDefaultTag(image, reference),
      userSpecifiedImage: image,
      ...{ container, sandboxConfig },
    };
    const brought$ = defer(() => {
      const startedAt = scheduler.now();
      return pullImage(context, request, credentials).pipe(
        concatMap((pulled) =>
          inspect(look).pipe(
            map((found) => ({ found })),
            catchError((inspectError: unknown) => of({ found: undefined, inspectError })),
            map((seen): Brought => ({ ...pulled, pullMs: scheduler.now() - startedAt, ...seen })),
          ),
        ),
      );
    });
    return brought$.pipe(
      pullQueue(),
      catchError((error: unknown) => {
        const text = errorText(error);
        const failure = pullFailure(image, text);
        backOffAfter(pulls, key, failure, wallClock());
        emitEvent(context, 'Warning', 'Failed', `Failed to pull image "${image}": ${text}`, container);
        return throwError(() => fail(failure.reason, failure.message, error));
      }),
      tap((brought) => {
        // The table goes on where it was, should the next one fail: a registry that works now and then is not asked more often.
        pulls.failures.delete(key);
        emitEvent(context, 'Normal', 'Pulled', pulledText(image, brought, scheduler.now() - queuedAt), container);
      }),
    );
  });

const presentAfterPull = (look: Look, { imageRef, found, inspectError }: Brought): Observable<PresentImage> => {
  if (inspectError !== undefined) return throwError(() => inspectionFailed(look, inspectError));
  if (found) return of({ ...found, id: imageRef });
  return throwError(() => look.fail('ErrImagePull', `image "${look.image}" was pulled but is not present`));
};

/** Durations are cut, not rounded, to milliseconds. */
const pulledText = (image: string, { pullMs, found }: Brought, totalMs: number): string => {
  const [took, total] = [pullMs, totalMs].map((ms) => formatGoDuration(Math.trunc(ms)));
  return `Successfully pulled image "${image}" in ${took} (${total} including waiting). Image size: ${found?.size ?? 0n} bytes.`;
};

const backOffAfter = ({ backOff, failures }: ImagePulls, key: string, failure: PullFailure, now: number): void => {
  backOff.set(key, afterFailedPull(backOff.get(key), now));
  failures.set(key, failure);
};

const pullFailure = (image: string, text: string): PullFailure => {
  for (const [reason, words] of KNOWN_FAILURES) {
    if (text.startsWith(reason))
      return { reason, message: `image pull failed for ${image} because the ${words}${text.slice(reason.length)}` };
  }
  return { reason: 'ErrImagePull', message: text };
};

const KNOWN_FAILURES = [
  ['RegistryUnavailable', 'registry is unavailable'],
  ['SignatureValidationFailed', 'signature validation failed'],
] as const;
