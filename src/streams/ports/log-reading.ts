import { EMPTY, type Observable, of } from 'rxjs';

/** An open log file. It stays the same file when it is renamed. */
export interface OpenLog {
  /** Equal for the same file only, as long as it is open. */
  readonly identity: string;
  /** Emits its size in bytes once. */
  readonly size: () => Observable<number>;
  /** Emits once: at most `length` bytes from `position` on, fewer at the end, none behind it. No later call changes them. */
  readonly read: (position: number, length: number) => Observable<Uint8Array>;
}

/** The log files of containers for readers. Calls are cold. Errors: those of the file system, with the path. */
export interface LogReading {
  /**
   * Opens the file at a path, passes it to `use`, and emits what that emits; undefined if there is none. The file is closed
   * when this ends or is unsubscribed.
   */
  readonly open: <T>(path: string, use: (file: OpenLog | undefined) => Observable<T>) => Observable<T>;
  /** Emits once the identity of the file that is at a path now; undefined if there is none. */
  readonly identity: (path: string) => Observable<string | undefined>;
  /**
   * Emits when the watch has begun and whenever the file at the path may have changed, or another one taken its place.
   * Events may be missing. Errors: the machine cannot watch it.
   */
  readonly changes: (path: string) => Observable<unknown>;
}

/** A node without logs. */
export const noLogs: LogReading = {
  open: (_path, use) => use(undefined),
  identity: () => of(undefined),
  changes: () => EMPTY,
};
