import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  endWith,
  filter,
  forkJoin,
  from,
  ignoreElements,
  map,
  merge,
  mergeMap,
  mergeScan,
  type Observable,
  of,
  pairwise,
  type SchedulerLike,
  startWith,
  takeLast,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import type { Container } from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri/cri-error.js';
import {
  collectsNoImages,
  detectImages,
  type DiskVerdict,
  type ImageDisk,
  type ImageGcPolicy,
  type ImageRecord,
  imagesInEvictionOrder,
  imagesStay,
  INVALID_CAPACITY,
  isTooOld,
  judgeDisk,
  mayMakeRoom,
  notEnoughRoom,
  oldImagesStay,
  sandboxImageOf,
  unusedImagesStay,
} from '../../model/images/image-gc.js';
import { ignoreNotFound } from '../upkeep/remove-dead-container.js';
import { every } from '../operators/every.js';
import type { DiskSpace } from '../ports/disk-space.js';
import type { ImageService } from '../ports/image-service.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RuntimeService } from '../ports/runtime-service.js';

/** Source: pkg/kubelet/kubelet.go ImageGCPeriod. Milliseconds. */
export const IMAGE_GC_PERIOD_MS = 300_000;
/** Source: pkg/kubelet/images/image_gc_manager.go Start. */
export const IMAGE_DETECTION_PERIOD_MS = 300_000;

export interface ImageGcOptions {
  readonly runtime: Pick<RuntimeService, 'status' | 'listContainers' | 'containerStatus'>;
  readonly images: Pick<ImageService, 'listImages' | 'removeImage' | 'imageFsInfo'>;
  readonly diskSpace: DiskSpace;
  readonly policy: ImageGcPolicy;
  readonly metrics: Pick<Metrics, 'imageCollected'>;
  readonly recordEvent: RecordEvent;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** The removal of images that no container uses. */
export interface ImageGarbage {
  /**
   * Removes those that have been unused for too long, and, while the disk is too full, those that have been unused for the longest time.
   * Runs at once and five minutes after each round; between rounds it reads which images are in use. Emits nothing.
   *
   * Errors: none. Failures are logged, and from the second in a row on reported by an event `ImageGCFailed` about the node.
   * Ends:   never, or at once if the policy collects nothing.
   */
  readonly collection$: Observable<never>;
  /**
   * Removes all of them that are older than the minimum age, for a node that is short of disk space, and completes.
   *
   * Errors: some could not be removed, or the runtime does not answer.
   */
  readonly removeUnused$: Observable<never>;
}

/** Source: pkg/kubelet/kubelet.go StartGarbageCollection, pkg/kubelet/images/image_gc_manager.go, there DeleteUnusedImages */
export const imageGarbage = (options: ImageGcOptions): ImageGarbage => {
  const known: KnownImages = new Map<string, ImageRecord>();
  return { collection$: collections(known, options), removeUnused$: removeUnused(known, options) };
};

const removeUnused = (known: KnownImages, options: ImageGcOptions): Observable<never> =>
  defer(() => {
    const { policy, scheduler } = options;
    const now = scheduler.now();
    const candidates = (): readonly ImageRecord[] =>
      imagesInEvictionOrder(known, now).filter((image) => mayMakeRoom(image, policy, now));
    return concat(
      detect(known, now, options),
      defer(() => remover(known, options)(candidates(), 'space', () => false)),
    );
  }).pipe(
    tap(({ freed, problems }) => {
      if (problems.length > 0) throw new Error(unusedImagesStay(freed, problems));
    }),
    ignoreElements(),
  );

const collections = (known: KnownImages, options: ImageGcOptions): Observable<never> => {
  const { policy, log, recordEvent, scheduler } = options;
  if (collectsNoImages(policy)) return EMPTY;
  return defer(() => {
    const startedAt = scheduler.now();
    const detection$ = defer(() => detect(known, scheduler.now(), options)).pipe(
      ignoreElements(),
      catchError((error: unknown) => {
        log.info({ error: errorText(error) }, 'cannot read which images are in use');
        return EMPTY;
      }),
    );
    /** Emits the error of a round, or undefined. */
    const collection$ = defer(() => collect(known, { startedAt, now: scheduler.now() }, options)).pipe(
      endWith(undefined),
      catchError((error: unknown) => of(errorText(error))),
    );
    const failed = (message: string, isRepeated: boolean): void => {
      if (isRepeated) recordEvent({ type: 'Warning', reason: 'ImageGCFailed', message, causes: [] });
      log.error({ error: message }, `images could not be collected${isRepeated ? ', again' : ''}`);
    };
    const collections$ = every({ periodMs: IMAGE_GC_PERIOD_MS, scheduler }, () => collection$).pipe(
      startWith(undefined),
      pairwise(),
      tap(([before, message]) => {
        if (message !== undefined) failed(message, before !== undefined);
      }),
      ignoreElements(),
    );
    return merge(
      every({ periodMs: IMAGE_DETECTION_PERIOD_MS, scheduler }, () => detection$),
      collections$,
    );
  });
};

/** The images with the times of their use; each detection updates them. */
type KnownImages = Map<string, ImageRecord>;

/** Reads all images and the images of all containers, running and ended, and updates `known`. */
const detect = (
  known: KnownImages,
  begunAt: number,
  { runtime, images, scheduler }: ImageGcOptions,
): Observable<never> =>
  forkJoin([images.listImages({}), runtime.listContainers({}), runtime.status({ verbose: true })]).pipe(
    concatMap(([listed, { containers }, { info }]) =>
      namesInUse(containers, runtime).pipe(
        tap((inUse) => {
          const names = new Set([...inUse, sandboxImageOf(info) ?? '']);
          const found = detectImages(known, listed.images, { names, begunAt, endedAt: scheduler.now() });
          known.clear();
          for (const [id, record] of found) known.set(id, record);
        }),
      ),
    ),
    ignoreElements(),
  );

/** The images of containers, and the images that are mounted into them; only a container's status names the latter. */
const namesInUse = (
  containers: readonly Container[],
  runtime: ImageGcOptions['runtime'],
): Observable<readonly string[]> => {
  const mounted$ = from(containers).pipe(
    concatMap(({ id }) => runtime.containerStatus({ containerId: id }).pipe(catchError(ignoreNotFound))),
    mergeMap(({ status }) => (status?.mounts ?? []).map(({ image }) => image?.image ?? '')),
  );
  const named = containers.flatMap(({ imageId, imageRef }) => [imageId, imageRef]);
  return concat(named, mounted$).pipe(
    filter((name) => name !== ''),
    toArray(),
  );
};

interface Moment {
  readonly startedAt: number;
  readonly now: number;
}

/** One round: removes old images first, then as many as the disk needs. Errors: the images that could not be removed, or too little space. */
const collect = (known: KnownImages, moment: Moment, options: ImageGcOptions): Observable<never> => {
  const remove = remover(known, options);
  const collect$ = defer(() => removeOld(imagesInEvictionOrder(known, moment.now), moment, remove, options));
  return concat(
    detect(known, moment.now, options),
    collect$.pipe(concatMap((left) => makeRoom(left, moment, remove, options))),
  );
};

/** Removes the old images and emits the others. */
const removeOld = (
  candidates: readonly ImageRecord[],
  moment: Moment,
  remove: RemoveImages,
  { policy }: ImageGcOptions,
): Observable<readonly ImageRecord[]> => {
  const old = candidates.filter((image) => isTooOld(image, policy, moment));
  return remove(old, 'age', () => false).pipe(
    map(({ problems }) => {
      if (problems.length > 0) throw new Error(oldImagesStay(policy, problems));
      const removed = new Set(old);
      return candidates.filter((image) => !removed.has(image));
    }),
  );
};

const makeRoom = (
  candidates: readonly ImageRecord[],
  { now }: Moment,
  remove: RemoveImages,
  options: ImageGcOptions,
): Observable<never> =>
  imageDisk(options).pipe(
    concatMap((disk) => {
      const { policy, log } = options;
      const verdict = judgeDisk(disk, policy);
      if (!verdict) return fail('InvalidDiskCapacity', INVALID_CAPACITY, options);
      const { usedPercent, bytesToFree } = verdict;
      if (usedPercent < policy.highThresholdPercent) return EMPTY;
      log.info(
        { usedPercent, bytesToFree: String(bytesToFree) },
        'the disk of the images is too full, removing images',
      );
      const mayGo = candidates.filter((image) => mayMakeRoom(image, policy, now));
      return remove(mayGo, 'space', (freed) => freed >= bytesToFree).pipe(
        concatMap((removal) => judgeRoom(removal, verdict, disk, options)),
      );
    }),
  );

const judgeRoom = (
  { freed, problems }: Removal,
  verdict: DiskVerdict,
  disk: ImageDisk,
  options: ImageGcOptions,
): Observable<never> => {
  const { bytesToFree } = verdict;
  if (problems.length > 0) return throwError(() => new Error(imagesStay(bytesToFree, freed, problems)));
  return freed >= bytesToFree ? EMPTY : fail('FreeDiskSpaceFailed', notEnoughRoom(verdict, disk, freed), options);
};

/** Fails, with an event of the same message. */
const fail = (
  reason: 'InvalidDiskCapacity' | 'FreeDiskSpaceFailed',
  message: string,
  { recordEvent }: ImageGcOptions,
): Observable<never> => {
  recordEvent({ type: 'Warning', reason, message, causes: [] });
  return throwError(() => new Error(message));
};

/** The file system of the runtime's images. */
const imageDisk = ({ images, diskSpace }: ImageGcOptions): Observable<ImageDisk> =>
  images.imageFsInfo({}).pipe(
    concatMap(({ imageFilesystems }) => {
      const mountpoint = imageFilesystems[0]?.fsId?.mountpoint;
      if (mountpoint === undefined) throw new Error('the runtime does not say where its images are');
      return diskSpace(mountpoint);
    }),
  );

/** The result of the removals so far. */
interface Removal {
  /** Bytes. */
  readonly freed: bigint;
  readonly problems: readonly string[];
}

const NOTHING_REMOVED: Removal = { freed: 0n, problems: [] };

type RemoveImages = (
  candidates: readonly ImageRecord[],
  reason: 'age' | 'space',
  isEnough: (freed: bigint) => boolean,
) => Observable<Removal>;

/** Removes images one after the other until `isEnough`, despite failures. Emits the result once. */
const remover = (known: KnownImages, { images, metrics, log }: ImageGcOptions): RemoveImages => {
  const removeOne = (before: Removal, { id, bytes }: ImageRecord, reason: 'age' | 'space'): Observable<Removal> => {
    log.info({ image: id, bytes: String(bytes), reason }, 'removing an unused image');
    return images.removeImage({ image: { image: id } }).pipe(
      ignoreElements(),
      tap({
        complete: () => {
          // If the image is pulled again, its use is counted from then on.
          known.delete(id);
          metrics.imageCollected(reason);
        },
      }),
      endWith({ ...before, freed: before.freed + bytes }),
      catchError((error: unknown) => of({ ...before, problems: [...before.problems, errorText(error)] })),
    );
  };
  return (candidates, reason, isEnough) =>
    from(candidates).pipe(
      mergeScan(
        (removal, image) => (isEnough(removal.freed) ? of(removal) : removeOne(removal, image, reason)),
        NOTHING_REMOVED,
        1,
      ),
      takeLast(1),
      defaultIfEmpty(NOTHING_REMOVED),
    );
};
