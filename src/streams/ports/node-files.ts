import type { Observable } from 'rxjs';

/** The calls of the agent to the node's file system. They are cold and complete when they are done. */
export interface NodeFiles {
  /** Creates the directory and its parents, with `mode`. Existing ones stay as they are. */
  readonly makeDirectory: (path: string, mode: number) => Observable<never>;
  /** Does the same, and completes when the directory and its parents up to `root` are on the disk: no loss of power undoes it. */
  readonly keepDirectory: (path: string, mode: number, root: string) => Observable<never>;
  /** Emits once the names in the directory; none if it does not exist. */
  readonly listDirectory: (path: string) => Observable<readonly string[]>;
  /** Removes the file or tree. A missing one is no error. */
  readonly remove: (path: string) => Observable<never>;
  /** Removes the log of a container with its rotated files (`<path>*`). */
  readonly removeLog: (path: string) => Observable<never>;
  /** Creates a symbolic link at `path`, with its folder, if `target` exists. */
  readonly link: (target: string, path: string) => Observable<never>;
  /** Emits once the names of the symbolic links in the directory whose target does not exist; none without a directory. */
  readonly danglingLinks: (directory: string) => Observable<readonly string[]>;
}
