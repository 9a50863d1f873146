import type { Observable } from 'rxjs';

/** The files of the agent that are mounted into containers. Calls are cold. Errors: Node's own, which name the path. */
export interface PodFiles {
  /**
   * Creates or rewrites the file and completes; the umask does not change `mode`. The inode stays, so that a container with a
   * mount of the file sees the new content. A file with that content is not written.
   */
  readonly write: (path: string, content: string, mode: number) => Observable<never>;
  /** The content of the file. */
  readonly read: (path: string) => Observable<string>;
  /** The last `maxBytes` of a regular file, or all of it; undefined if there is none. Never waits for a writer. */
  readonly readTail: (path: string, maxBytes: number) => Observable<Uint8Array | undefined>;
  /** The mount points at and below the directory, as this process sees them; none if it does not exist. */
  readonly mountsBelow: (directory: string) => Observable<readonly string[]>;
}
