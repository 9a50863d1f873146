import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  finalize,
  from,
  ignoreElements,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
} from 'rxjs';
import { errorText, isCriError } from '../../model/cri/cri-error.js';
import {
  checkEnded,
  checksBegun,
  logFound,
  type LogRotationPolicy,
  logsToCheck,
  NO_LOGS,
  planRotation,
  rotatedLogOf,
  rotatedName,
  runningListed,
} from '../../model/upkeep/log-rotation.js';
import { every } from '../operators/every.js';
import type { Logger } from '../ports/logger.js';
import type { LogFiles } from '../ports/log-files.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { WallClock } from '../ports/wall-clock.js';

export interface LogRotationOptions {
  readonly runtime: Pick<RuntimeService, 'listContainers' | 'containerStatus' | 'reopenContainerLog'>;
  readonly logFiles: LogFiles;
  readonly policy: LogRotationPolicy;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}

/**
 * Rotates the large logs of running containers: lists the containers at once and again a period after each listing, and checks
 * `policy.workers` of them at a time. A slow container occupies one worker, and is not checked again meanwhile. Emits nothing.
 *
 * Errors: none; failures are logged and retried after the next listing.
 * Ends:   never, or at once if the policy rotates no logs.
 * Source: pkg/kubelet/logs/container_log_manager.go
 */
export const logRotation = (options: LogRotationOptions): Observable<never> => {
  const { runtime, policy, log, scheduler } = options;
  if (policy.maxBytes < 0n) return EMPTY;
  const running$ = defer(() => runtime.listContainers({ filter: { state: { state: 'CONTAINER_RUNNING' } } })).pipe(
    map(({ containers }) => containers.map(({ id }) => id)),
    catchError((error: unknown) => {
      log.error({ error: errorText(error) }, 'logs are not rotated: the runtime could not list its containers');
      return EMPTY;
    }),
  );
  return defer(() => {
    let logs = NO_LOGS;
    const found = (id: string, path: string): void => void (logs = logFound(logs, id, path));
    return every({ periodMs: policy.periodMs, scheduler }, () => running$).pipe(
      mergeMap((running) => {
        const ids = logsToCheck(logs, running);
        logs = checksBegun(runningListed(logs, running), ids);
        return ids;
      }),
      mergeMap(
        (id) =>
          defer(() => checkLog({ containerId: id, path: logs.paths.get(id), found }, options)).pipe(
            finalize(() => (logs = checkEnded(logs, id))),
          ),
        policy.workers,
      ),
    );
  });
};

/** The log of one container to check. */
interface LogCheck {
  readonly containerId: string;
  /** Undefined while it is not known. */
  readonly path: string | undefined;
  readonly found: (containerId: string, path: string) => void;
}

/**
 * Checks the log of one container. It reads the container's status only while the path is not known and when the log is large: on an
 * idle node it only reads the sizes of files.
 */
const checkLog = ({ containerId, path, found }: LogCheck, options: LogRotationOptions): Observable<never> =>
  (path === undefined ? of(false) : isSmall(path, options)).pipe(
    concatMap((small) => (small ? EMPTY : inspect({ containerId, found }, options))),
    catchError((error: unknown) => {
      if (!isCriError(error, 'not-found')) {
        options.log.error({ containerId, error: errorText(error) }, 'the log of a container could not be rotated');
      }
      return EMPTY;
    }),
  );

const isSmall = (path: string, { logFiles, policy }: LogRotationOptions): Observable<boolean> =>
  logFiles.size(path).pipe(map((bytes) => bytes !== undefined && bytes < policy.maxBytes));

/** Rotates the log if it is large. */
const inspect = (
  { containerId, found }: Pick<LogCheck, 'containerId' | 'found'>,
  options: LogRotationOptions,
): Observable<never> =>
  defer(() => options.runtime.containerStatus({ containerId })).pipe(
    concatMap(({ status }) => {
      const path = rotatedLogOf(status);
      if (path === undefined) return EMPTY;
      found(containerId, path);
      return rotateIfLarge({ containerId, path }, options);
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
      // An agent may have been killed between the rename of a log and the call to the runtime.
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

/** Renames the log to a rotated file, and lets the runtime open a new one. If that fails, the log is renamed back. */
const exchange = (target: ContainerLog, rotated: readonly string[], options: LogRotationOptions): Observable<never> =>
  defer(() => {
    const { logFiles, wallClock, log } = options;
    const { path } = target;
    const at = wallClock();
    const kept = rotatedName(path, { at, utcOffsetMinutes: logFiles.utcOffsetMinutes(at) }, rotated);
    const putBack$ = defer(() => logFiles.size(path)).pipe(
      // If the runtime has created the new file and only its answer was late, the new file must stay.
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
