import {
  concat,
  defer,
  EMPTY,
  filter,
  ignoreElements,
  merge,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  take,
  takeUntil,
  takeWhile,
  timer,
} from 'rxjs';
import { isAlive, signalProcess } from '../../runtime/embedded/confinement/process-tree.js';
import { ownerOf } from '../../runtime/embedded/state/directory-lock.js';
import { stateLockPath } from '../../runtime/embedded/state/state-lock.js';

/** A runtime of another build is being ended. */
export interface RuntimeReplaced {
  readonly kind: 'replaced';
  readonly pid: number;
  /** Undefined for a runtime of a version that named none. */
  readonly build?: string;
}

/** A runtime ends its sessions and calls within seconds. One that cannot is killed: its containers and their state do not need its end. */
export const RUNTIME_END_MS = 15_000;
/** The time for the end of a killed runtime. The next one then says that the state is in use. */
export const RUNTIME_KILL_MS = 5_000;
/** The period of looks whether a process has ended. */
export const RUNTIME_LOOK_MS = 20;

export interface OtherBuildOptions {
  readonly stateDirectory: string;
  readonly build: string;
  /** Emits once whether a process listens at the socket of the runtime. Errors: none. */
  readonly isServed: () => Observable<boolean>;
}

/**
 * Ends the runtime on a state directory if it is one of another build. Emits `replaced` before, and completes when the runtime has ended and
 * nothing listens at its socket any more, or if there is none to end.
 *
 * Errors: none.
 */
export const endOtherBuild = (
  { stateDirectory, build, isServed }: OtherBuildOptions,
  scheduler: SchedulerLike,
): Observable<RuntimeReplaced> =>
  defer(() => {
    const owner = ownerOf(stateLockPath(stateDirectory));
    if (!owner || owner.build === build) return EMPTY;
    const { pid } = owner;
    const replaced: RuntimeReplaced = {
      kind: 'replaced',
      pid,
      ...(owner.build !== undefined && { build: owner.build }),
    };
    const runtime = { isAlive: () => isAlive(owner), signal: (signal: EndSignal) => signalProcess(owner, signal) };
    return concat(of(replaced), endProcess(runtime, scheduler), untilUnserved(isServed, scheduler));
  });

/**
 * Completes once nothing listens, or after 5 s. The kernel closes the files of a process after it counts as ended, and until then accepts
 * connections in its name.
 *
 * Errors: none.
 */
export const untilUnserved = (isServed: () => Observable<boolean>, scheduler: SchedulerLike): Observable<never> =>
  defer(isServed).pipe(
    repeat({ delay: () => timer(RUNTIME_LOOK_MS, scheduler) }),
    takeWhile((served) => served),
    ignoreElements(),
    takeUntil(timer(RUNTIME_KILL_MS, scheduler)),
  );

type EndSignal = 'SIGTERM' | 'SIGKILL';

export interface EndingProcess {
  readonly isAlive: () => boolean;
  readonly signal: (signal: EndSignal) => unknown;
}

/** Sends SIGTERM, and SIGKILL after 15 s. Completes when the process has ended, or 5 s after SIGKILL. Errors: none. */
export const endProcess = (target: EndingProcess, scheduler: SchedulerLike): Observable<never> =>
  concat(
    ended(target, 'SIGTERM', RUNTIME_END_MS, scheduler),
    defer(() => (target.isAlive() ? ended(target, 'SIGKILL', RUNTIME_KILL_MS, scheduler) : EMPTY)),
  );

const ended = (
  { isAlive, signal }: EndingProcess,
  name: EndSignal,
  mostMs: number,
  scheduler: SchedulerLike,
): Observable<never> =>
  defer(() => {
    signal(name);
    const ended$ = timer(RUNTIME_LOOK_MS, RUNTIME_LOOK_MS, scheduler).pipe(filter(() => !isAlive()));
    return merge(ended$, timer(mostMs, scheduler)).pipe(take(1), ignoreElements());
  });
