import { catchError, concatMap, defer, map, type Observable, of, throwError } from 'rxjs';
import { errorText } from '../../model/cri-error.js';
import { type BackOffEntry } from '../../model/back-off.js';
import { afterFailedPull, decideImageBackOff, imageBackOffKey, type PullFailure } from '../../model/image-back-off.js';
import type { Container, EphemeralContainer } from '../../model/pod.js';
import { ContainerSyncError, SyncCancelled } from '../../model/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import { emitEvent, journaled, note, type PodSyncContext } from './pod-sync-context.js';

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

/**
 * Emits the image of `container` once it is present, pulling it if its pull policy says so.
 *
 * Errors: `ContainerSyncError` by the reason that the status shows: ErrImageNeverPull, ErrImagePull, ImagePullBackOff, ...
 * Source: pkg/kubelet/images/image_manager.go EnsureImageExists
 */
export const ensureImage = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  pulls: ImagePulls,
): Observable<PresentImage> =>
  defer(() => {
    const image = container.image ?? '';
    const spec = { image: withDefaultTag(image), userSpecifiedImage: image };
    const fail = (reason: string, message: string, cause?: unknown) =>
      new ContainerSyncError(container.name, reason, message, { cause });
    const inspect$ = context.ports.images.imageStatus({ image: spec }).pipe(
      map(({ image: found }): PresentImage | undefined =>
        found && found.id !== ''
          ? { id: found.id, user: { uid: found.uid?.value, username: found.username } }
          : undefined,
      ),
      catchError((error: unknown) => {
        emitEvent(
          context,
          'Warning',
          'InspectFailed',
          `Failed to inspect image "${image}": ${errorText(error)}`,
          container.name,
        );
        return throwError(() => fail('ImageInspectError', errorText(error), error));
      }),
    );
    const pull$ = pull(context, container, spec, pulls, fail).pipe(
      concatMap(() => inspect$),
      concatMap((found) =>
        found ? of(found) : throwError(() => fail('ErrImagePull', `image "${image}" was pulled but is not present`)),
      ),
    );
    if (container.imagePullPolicy === 'Always') return pull$;
    return inspect$.pipe(
      concatMap((found) => {
        if (found) {
          const message = `Container image "${image}" already present on machine and can be accessed by the pod`;
          emitEvent(context, 'Normal', 'Pulled', message, container.name);
          return of(found);
        }
        if (container.imagePullPolicy !== 'Never') return pull$;
        const message = `Container image "${image}" is not present with pull policy of Never`;
        emitEvent(context, 'Warning', 'ErrImageNeverPull', message, container.name);
        return throwError(() => fail('ErrImageNeverPull', message));
      }),
    );
  });

const pull = (
  context: PodSyncContext,
  { name }: Container | EphemeralContainer,
  spec: { readonly image: string; readonly userSpecifiedImage: string },
  { backOff, failures }: ImagePulls,
  fail: (reason: string, message: string, cause?: unknown) => ContainerSyncError,
): Observable<unknown> =>
  defer(() => {
    const { images, wallClock } = context.ports;
    const image = spec.userSpecifiedImage;
    const key = imageBackOffKey(context.pod, image);
    const verdict = decideImageBackOff({
      entry: backOff.get(key),
      image,
      lastFailure: failures.get(key),
      now: wallClock(),
    });
    if (verdict.blocked) {
      const { message, eventMessage, delayMs, until, step, steps, resetAfterMs } = verdict;
      note(context, {
        kind: 'back-off',
        subject: 'image-pull',
        container: name,
        delayMs,
        until,
        step,
        steps,
        resetAfterMs,
      });
      emitEvent(context, 'Normal', 'BackOff', eventMessage, name);
      return throwError(() => fail('ImagePullBackOff', message));
    }
    emitEvent(context, 'Normal', 'Pulling', `Pulling image "${image}"`, name);
    const startedAt = wallClock();
    const annotations = { ...context.pod.metadata.annotations };
    const pull$ = images.pullImage({ image: { ...spec, annotations } });
    // Pulling changes nothing of the pod, so it is given up at once when the pod has to stop.
    const interruptible$ = pull$.pipe(errorOnAbort(context.signal, () => new SyncCancelled()));
    return journaled(context, 'PullImage', { target: image, container: name }, interruptible$).pipe(
      map((response) => {
        backOff.delete(key);
        failures.delete(key);
        const seconds = ((wallClock() - startedAt) / 1000).toFixed(3);
        const message = `Successfully pulled image "${image}" in ${seconds}s (${seconds}s including waiting).`;
        emitEvent(context, 'Normal', 'Pulled', message, name);
        return response;
      }),
      catchError((error: unknown) => {
        if (error instanceof SyncCancelled) throw error;
        const failure = pullFailure(image, errorText(error));
        backOff.set(key, afterFailedPull(backOff.get(key), wallClock()));
        failures.set(key, failure);
        emitEvent(context, 'Warning', 'Failed', `Failed to pull image "${image}": ${errorText(error)}`, name);
        return throwError(() => fail(failure.reason, failure.message, error));
      }),
    );
  });

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

/** A reference without tag and digest means the tag `latest`; the registry part is never completed. */
const withDefaultTag = (image: string): string => {
  const lastPart = image.slice(image.lastIndexOf('/') + 1);
  return image.includes('@') || lastPart.includes(':') ? image : `${image}:latest`;
};
