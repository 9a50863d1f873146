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
import type { Cgroup } from './cgroup.js';
import type { Container } from './container.js';

const FIRST_MS = 10;
/** The longest time between two attempts, and so the longest life of an empty group. */
const LONGEST_MS = 10_000;

/**
 * Attempts to remove the group of a command that has ended, at once and then in doubling steps: the command may have
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
    let delayMs = FIRST_MS;
    const attempt = (): Observable<0> => {
      if (isOver() || tryRemove()) return EMPTY;
      const wait$ = timer(delayMs, scheduler);
      delayMs = Math.min(delayMs * 2, LONGEST_MS);
      return wait$;
    };
    return defer(attempt).pipe(expand(attempt), ignoreElements());
  });

const PREFIX = 'exec-';

let commands = 0;

/** The cgroups of the commands that run, or have run, beside the main processes of containers. */
export class CommandGroups {
  /** Also ends attempts that begin later. */
  private readonly over$ = new ReplaySubject<void>(1);

  constructor(private readonly scheduler: SchedulerLike = asyncScheduler) {}

  /**
   * A name for the files of a new command, and its group, which is still to be made: no other one has either, also none
   * that an earlier runtime has left with processes. No group without cgroups.
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

  /** Removes the group of an ended command now, or when its last process has ended. */
  remove(container: Pick<Container, 'record'>, group: Cgroup | undefined): void {
    if (!group) return;
    // The groups of a container that has ended are removed with its own.
    const isOver = (): boolean => container.record.state !== 'running';
    removeWhenEmpty({ tryRemove: () => group.tryRemove(), isOver }, this.scheduler)
      .pipe(takeUntil(this.over$))
      .subscribe();
  }

  /** Does the same for all commands of earlier runtimes. Errors: the groups cannot be read. */
  adopt(container: Container): void {
    for (const name of container.cgroup?.names() ?? [])
      if (name.startsWith(PREFIX)) this.remove(container, container.cgroup?.child(name));
  }

  /** Ends all attempts; the next runtime goes on with them. */
  close(): void {
    this.over$.next();
  }
}
