import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  filter,
  finalize,
  from,
  ignoreElements,
  map,
  mergeMap,
  type Observable,
  of,
  repeat,
  type SchedulerLike,
  tap,
  throwError,
  timer,
} from 'rxjs';
import { errorText, isCriError } from '../model/cri-error.js';
import { type LogRotationPolicy, planRotation, rotatedName } from '../model/log-rotation.js';
import type { Logger, LogFiles, RuntimeService, WallClock } from './ports.js';

export interface LogRotationOptions {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'containerStatus' | 'reopenContainerLog'>;
  readonly logFiles: LogFiles;
  readonly policy: LogRotationPolicy;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/**
 * Keeps the logs of running containers small: looks at all of them at once and again a period after each listing, a few
 * containers at a time. A container that takes long holds up one worker, and is not looked at again meanwhile. Emits nothing.
 *
 * Errors: none; what could not be done is said, and tried again with the next listing.
 * Ends:   never, or at once when the policy leaves all logs alone.
 * Source: pkg/kubelet/logs/container_log_manager.go
 */
export const logRotation = (options: LogRotationOptions): Observable<never> => {
  const { runtime, policy, log, scheduler } = options;
  if (policy.maxBytes < 0n) return EMPTY;
  const running$ = defer(() => runtime.listContainers({ filter: { state: { state: 'CONTAINER_RUNNING' } } })).pipe(
    map(({ containers }) => new Set(containers.map(({ id }) => id))),
    catchError((error: unknown) => {
      log.error({ error: errorText(error) }, 'logs are not rotated: the runtime could not list its containers');
      return EMPTY;
    }),
  );
  return defer(() => {
    const underWay = new Set<string>();
    const paths: LogPaths = new Map();
    return running$.pipe(
      repeat({ delay: () => timer(policy.periodMs, scheduler) }),
      mergeMap((ids) => {
        for (const id of paths.keys()) if (!ids.has(id)) paths.delete(id);
        return ids;
      }),
      // From its place in the line to its end.
      filter((id) => !underWay.has(id)),
      tap((id) => underWay.add(id)),
      mergeMap((id) => lookAfter(id, paths, options).pipe(finalize(() => underWay.delete(id))), policy.workers),
    );
  });
};

/** Where the logs of containers are that ran at the last listing, by their ids; a log stays where it is. */
type LogPaths = Map<string, string>;

/**
 * One container. The runtime is asked about it only until it has said where the log is, and when that has grown: of an idle node
 * all that is looked at are sizes of files.
 */
const lookAfter = (containerId: string, paths: LogPaths, options: LogRotationOptions): Observable<never> =>
  defer(() => {
    const path = paths.get(containerId);
    return path === undefined ? of(false) : isSmall(path, options);
  }).pipe(
    concatMap((small) => (small ? EMPTY : inspect(containerId, paths, options))),
    catchError((error: unknown) => {
      if (!isCriError(error, 'not-found')) {
        options.log.error({ containerId, error: errorText(error) }, 'the log of a container could not be rotated');
      }
      return EMPTY;
    }),
  );

const isSmall = (path: string, { logFiles, policy }: LogRotationOptions): Observable<boolean> =>
  logFiles.size(path).pipe(map((bytes) => bytes !== undefined && bytes < policy.maxBytes));

/** Ended ones are left alone: nothing more is written, and an empty newest log helps nobody. */
const inspect = (containerId: string, paths: LogPaths, options: LogRotationOptions): Observable<never> =>
  defer(() => options.runtime.containerStatus({ containerId })).pipe(
    concatMap(({ status }) => {
      if (status?.state !== 'CONTAINER_RUNNING' || status.logPath === '') return EMPTY;
      paths.set(containerId, status.logPath);
      return rotateIfLarge({ containerId, path: status.logPath }, options);
    }),
  );

interface ContainerLog {
  readonly containerId: string;
  readonly path: string;
}

const rotateIfLarge = (target: ContainerLog, options: LogRotationOptions): Observable<never> => {
  const { logFiles, policy } = options;
  const size$ = logFiles.size(target.path).pipe(
    concatMap((bytes) => {
      if (bytes !== undefined) return of(bytes);
      // An agent may have ended between renaming a log and telling the runtime.
      const again$ = defer(() => logFiles.size(target.path)).pipe(map((size) => present(size, target)));
      return concat(reopen(target, options), again$);
    }),
  );
  return size$.pipe(concatMap((bytes) => (bytes >= policy.maxBytes ? rotate(target, options) : EMPTY)));
};

const rotate = (target: ContainerLog, options: LogRotationOptions): Observable<never> => {
  const { logFiles, policy } = options;
  return logFiles.rotated(target.path).pipe(
    concatMap((rotated) => {
      const { remove, compress } = planRotation(rotated, policy.maxFiles);
      return concat(
        from(remove).pipe(concatMap((path) => logFiles.remove(path))),
        from(compress).pipe(concatMap((path) => logFiles.compress(path))),
        exchange(target, rotated, options),
      );
    }),
  );
};

/** The log becomes a rotated file, and the runtime starts another one. If it does not, the log is put back. */
const exchange = (target: ContainerLog, rotated: readonly string[], options: LogRotationOptions): Observable<never> =>
  defer(() => {
    const { logFiles, wallClock, log } = options;
    const { path } = target;
    const at = wallClock();
    const kept = rotatedName(path, { at, utcOffsetMinutes: logFiles.utcOffsetMinutes(at) }, rotated);
    const putBack$ = defer(() => logFiles.size(path)).pipe(
      // Where the runtime has made the new file after all, having answered too late, nothing may replace that.
      concatMap((bytes) => (bytes === undefined ? logFiles.rename(kept, path) : EMPTY)),
      catchError((error: unknown) => {
        log.error({ path, rotated: kept, error: errorText(error) }, 'a rotated log could not be put back');
        return EMPTY;
      }),
    );
    const exchanged$ = defer(() => reopen(target, options)).pipe(
      catchError((error: unknown) =>
        concat(
          putBack$,
          throwError(() => error),
        ),
      ),
    );
    return concat(logFiles.rename(path, kept), exchanged$);
  });

const reopen = ({ containerId }: ContainerLog, { runtime }: LogRotationOptions): Observable<never> =>
  runtime.reopenContainerLog({ containerId }).pipe(
    ignoreElements(),
    catchError((error: unknown) => {
      throw new Error(`failed to reopen container log "${containerId}": ${errorText(error)}`, { cause: error });
    }),
  );

const present = (bytes: bigint | undefined, { path }: ContainerLog): bigint => {
  if (bytes === undefined) throw new Error(`${path} is missing although the runtime has reopened it`);
  return bytes;
};
