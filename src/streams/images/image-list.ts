import { catchError, defer, EMPTY, map, type Observable, type SchedulerLike } from 'rxjs';
import type { Image } from '../../generated/runtime/v1/api.js';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../operators/every.js';
import type { ImageService } from '../ports/image-service.js';
import type { Logger } from '../ports/logger.js';

export type { Image };

/** Source: pkg/kubelet/images/image_gc_manager.go Start. Milliseconds. */
export const IMAGE_LIST_PERIOD_MS = 30_000;

interface ImageListOptions {
  readonly images: Pick<ImageService, 'listImages'>;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/**
 * Emits the images of the node, largest first: at once and 30 s after each listing.
 *
 * Errors: none; a failed listing is logged and emits nothing.
 * Ends:   never.
 * Source: pkg/kubelet/images/image_gc_manager.go imageCache
 */
export const imageLists = ({ images, log, scheduler }: ImageListOptions): Observable<readonly Image[]> =>
  every({ periodMs: IMAGE_LIST_PERIOD_MS, scheduler }, () =>
    defer(() => images.listImages({})).pipe(
      map((listed) =>
        listed.images.toSorted((one, other) => (one.size < other.size ? 1 : one.size > other.size ? -1 : 0)),
      ),
      catchError((error: unknown) => {
        log.info({ error: errorText(error) }, 'the images of the node could not be listed');
        return EMPTY;
      }),
    ),
  );
