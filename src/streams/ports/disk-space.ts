import type { ImageDisk } from '../../model/images/image-gc.js';
import type { Observable } from 'rxjs';

/**
 * Emits once the size of the file system of a path, and the bytes that an ordinary user can still fill.
 * Errors: the path does not exist.
 */
export type DiskSpace = (path: string) => Observable<ImageDisk>;
