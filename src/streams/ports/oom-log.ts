import type { Observable } from 'rxjs';

/** What the kernel says of processes that it has ended because memory ran out. */
export interface OomLog {
  /** The number of such processes since the boot. Errors: the kernel does not count them. */
  readonly kills: () => Observable<number>;
  /** The records of the kernel's log, oldest first, in the form of `/dev/kmsg`. Errors: it cannot be read. */
  readonly records: () => Observable<readonly string[]>;
}
