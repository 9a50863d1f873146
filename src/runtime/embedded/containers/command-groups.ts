import {
  asyncScheduler,
  defer,
  EMPTY,
  expand,
  ignoreElements,
  type Observable,
  ReplaySubject,
  type SchedulerLike,
  takeUntil,
  timer,
} from 'rxjs';
import { type Backoff, nextDelay } from '../../../model/values/back-off.js';
import type { Cgroup } from '../confinement/cgroup.js';
import type { Container } from './container.js';

/** The longest time between two attempts, and so the longest life of an empty group. */
export const LONGEST_MS = 10_000;
const BACKOFF: Backoff = { initialMs: 10, maxMs: LONGEST_MS };

/**
 * Attempts to remove the cgroup of an ended command at once, and then again after waits that double: the command may have
 * left processes in it. Emits nothing.
 *
 * Errors: none.
 * Ends:   when the group is removed, or `isOver` returns true.
 */
export const removeWhenEmpty = (
  { tryRemove, isOver }: { readonly tryRemove: () => boolean; readonly isOver: () => boolean },
  scheduler: SchedulerLike,
): Observable<never> =>
  defer(() => {
    let failures = 0;
    const attempt = (): Observable<0> => {
      if (isOver() || tryRemove()) return EMPTY;
      failures += 1;
      return timer(nextDelay(BACKOFF, failures), scheduler);
    };
    return defer(attempt).pipe(expand(attempt), ignoreElements());
  });

const PREFIX = 'exec-';

let commands = 0;

/** The cgroups of commands in containers: each command has its own, beside the main process of its container. */
export class CommandGroups {
  /** Emits when the runtime ends, and again for each attempt that begins later. */
  private readonly over$ = new ReplaySubject<void>(1);

  constructor(private readonly scheduler: SchedulerLike = asyncScheduler) {}

  /**
   * Returns a name for the files of a new command, and its cgroup, which does not exist yet. No other command has this name, not
   * even one that an earlier runtime has left behind. `group` is undefined if the container has no cgroup.
   */
  next(
    { cgroup }: Pick<Container, 'cgroup'>,
    kind = '',
  ): { readonly name: string; readonly group: Cgroup | undefined } {
    for (;;) {
      commands += 1;
      const name = `${PREFIX}${kind}${process.pid}-${commands}`;
      const group = cgroup?.child(name);
      if (!group?.exists()) return { name, group };
    }
  }

  /** Removes the cgroup of an ended command: now, or after its last process has ended. */
  remove(container: Pick<Container, 'record'>, group: Cgroup | undefined): void {
    if (!group) return;
    // The end of a container removes its cgroup with all groups in it.
    const isOver = (): boolean => container.record.state !== 'running';
    removeWhenEmpty({ tryRemove: () => group.tryRemove(), isOver }, this.scheduler)
      .pipe(takeUntil(this.over$))
      .subscribe();
  }

  /** Removes the cgroups of the commands of earlier runtimes in the same way. Errors: the cgroup of the container cannot be read. */
  adopt(container: Container): void {
    for (const name of container.cgroup?.names() ?? [])
      if (name.startsWith(PREFIX)) this.remove(container, container.cgroup?.child(name));
  }

  /** Ends all attempts. The next runtime adopts the groups. */
  close(): void {
    this.over$.next();
  }
}
