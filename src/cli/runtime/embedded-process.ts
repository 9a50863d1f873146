import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { dirname } from 'node:path';
import {
  asyncScheduler,
  catchError,
  concat,
  map,
  Observable,
  of,
  retry,
  type SchedulerLike,
  switchMap,
  take,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { makeDirectoriesSync } from '../../processes/make-directories.js';
import { type LockOwner, ownerOf } from '../../runtime/embedded/state/directory-lock.js';
import { stateLockPath } from '../../runtime/embedded/state/state-lock.js';
import { endOtherBuild, type RuntimeReplaced } from './end-other-build.js';
import { restartWithBackoff, type RunFailed } from './restart-with-backoff.js';

export interface EmbeddedProcessOptions {
  readonly socketPath: string;
  readonly stateDirectory: string;
  /** The file for the output of the runtime. */
  readonly logFile: string;
  /**
   * The command that starts a runtime, to which `--socket PATH --state-dir PATH` is added: Node with the path of this
   * program and `runtime`.
   */
  readonly command: readonly [program: string, ...args: string[]];
  /** The build of the program that the command starts: a runtime of another build is replaced at the start, and never later. */
  readonly build: string;
  readonly scheduler?: SchedulerLike;
}

export interface RuntimeReady {
  readonly kind: 'ready';
  /** Absent for a runtime that was running already and whose process ID is unknown. */
  readonly pid?: number;
}
export type EmbeddedRuntimeEvent = RuntimeReplaced | RuntimeReady | RunFailed;

/** A runtime without a socket after this time has failed. */
const START_TIMEOUT_MS = 30_000;
const LOOK_EVERY_MS = 20;
const MAX_LOG_BYTES = 1024 * 1024;

/**
 * Ensures that a runtime serves the socket: emits `ready` for a running one, else for one that it starts, in a session
 * of its own so that containers outlive the agent. When the runtime ends it emits `failed`, and starts another one
 * after 100 ms, doubling to 5 s. The runtime keeps running after an unsubscribe.
 *
 * A runtime of another build, which an upgrade has left, is ended first, with `replaced`; its containers run on. Only at
 * the start: an agent that runs while its own files are replaced starts the next runtime from the new ones.
 *
 * Errors: none. Ends: never by itself.
 */
export const embeddedRuntime = (options: EmbeddedProcessOptions): Observable<EmbeddedRuntimeEvent> => {
  const scheduler = options.scheduler ?? asyncScheduler;
  return concat(
    endOtherBuild({ ...options, isServed: () => isServed(options.socketPath) }, scheduler),
    oneRuntime(options, scheduler).pipe(restartWithBackoff({ initialMs: 100, maxMs: 5000, scheduler })),
  );
};

/** One run of a runtime. Errors: when it ends, or does not start. */
const oneRuntime = (options: EmbeddedProcessOptions, scheduler: SchedulerLike): Observable<RuntimeReady> =>
  connection(options.socketPath).pipe(
    map((): RuntimeReady => found(ownerOf(stateLockPath(options.stateDirectory)))),
    catchError((error: unknown) => (hasNoListener(error) ? started(options, scheduler) : throwError(() => error))),
  );

const found = (owner: LockOwner | undefined): RuntimeReady => ({ kind: 'ready', ...(owner && { pid: owner.pid }) });

/** No process listens: the socket is missing, or was left by an ended process. */
const hasNoListener = (error: unknown): boolean =>
  ['ENOENT', 'ECONNREFUSED'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Emits once it is connected, and fails when the other side closes: the kernel reports at once what polling would find
 * late.
 */
const connection = (socketPath: string): Observable<Socket> =>
  new Observable((subscriber) => {
    const socket = connect(socketPath);
    socket.on('connect', () => subscriber.next(socket));
    socket.on('error', (error) => subscriber.error(error));
    socket.on('close', () => subscriber.error(new Error(`the runtime at ${socketPath} closed its socket`)));
    // The first data of the other side (settings of HTTP/2) is not used, but has to be read so that a close is
    // reported.
    socket.resume();
    return () => socket.destroy();
  });

/** Emits once whether a process accepts connections. Errors: none. */
const isServed = (socketPath: string): Observable<boolean> =>
  connection(socketPath).pipe(
    map(() => true),
    catchError((error: unknown) => of(!hasNoListener(error))),
    take(1),
  );

const started = (options: EmbeddedProcessOptions, scheduler: SchedulerLike): Observable<RuntimeReady> =>
  spawned(options).pipe(
    switchMap((pid) => {
      const socket$ = connection(options.socketPath).pipe(
        retry({
          delay: (error: unknown) => (hasNoListener(error) ? timer(LOOK_EVERY_MS, scheduler) : throwError(() => error)),
        }),
        timeout({
          first: START_TIMEOUT_MS,
          scheduler,
          with: () =>
            throwError(
              () => new Error(`the runtime did not open ${options.socketPath} in ${START_TIMEOUT_MS / 1000} s`),
            ),
        }),
      );
      return socket$.pipe(map((): RuntimeReady => ({ kind: 'ready', pid })));
    }),
  );

/** Starts the process; emits its ID and fails when it ends. */
const spawned = ({ command, socketPath, stateDirectory, logFile }: EmbeddedProcessOptions): Observable<number> =>
  new Observable((subscriber) => {
    // Processes of containers run as other users, and have to reach their own folders.
    for (const path of [socketPath, logFile]) makeDirectoriesSync(dirname(path), 0o711);
    limitLog(logFile);
    const [program, ...args] = command;
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(program, [...args, '--socket', socketPath, '--state-dir', stateDirectory], {
      detached: true,
      stdio: ['ignore', log, log],
    });
    closeSync(log);
    child.unref();
    child.on('error', (error) => subscriber.error(error));
    child.on('exit', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : signal;
      subscriber.error(new Error(`the runtime ended with ${how}${lastLogLine(logFile)}`));
    });
    if (child.pid !== undefined) subscriber.next(child.pid);
    // The process keeps running without a listener. An `error` without a listener would end the agent.
    return () => child.removeAllListeners('exit');
  });

const limitLog = (path: string): void => {
  const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
  if (size > MAX_LOG_BYTES) truncateSync(path);
};

/** The last line with an error, else the last line, if there is a log. */
const lastLogLine = (path: string): string => {
  try {
    const lines = readFileSync(path, 'utf8').trimEnd().split('\n');
    const last = lines.findLast((line) => /error/i.test(line) && !/^\s*(at|throw) /.test(line)) ?? lines.at(-1) ?? '';
    return last === '' ? '' : `: ${last}`;
  } catch {
    return '';
  }
};
