import type { Observable } from 'rxjs';

/** The files of container logs on the node's disk, by their paths. Calls are cold and complete when they are done. */
export interface LogFiles {
  /** Emits the bytes of a file once; undefined if there is none. */
  readonly size: (path: string) => Observable<bigint | undefined>;
  /** Emits once the rotated files of a log: `<path>.*`. */
  readonly rotated: (path: string) => Observable<readonly string[]>;
  readonly rename: (from: string, to: string) => Observable<never>;
  /** Replaces the file by `<path>.gz`. After an interruption either the file or the complete `.gz` exists. */
  readonly compress: (path: string) => Observable<never>;
  /** Removes a file. A missing one is no error. */
  readonly remove: (path: string) => Observable<never>;
  /** The minutes by which the node's time is ahead of UTC at the time `at`, in Unix milliseconds. */
  readonly utcOffsetMinutes: (at: number) => number;
}
