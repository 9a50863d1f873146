import { Map as ImmutableMap, Set as ImmutableSet } from 'immutable';
import type { ContainerStatus } from '../../generated/runtime/v1/api.js';
import { retainKeys } from '../values/retain.js';
import { updated } from '../values/updated.js';

/** Source: pkg/kubelet/logs/container_log_manager.go LogRotatePolicy. */
export interface LogRotationPolicy {
  /** The size from which on a log is rotated, in bytes; negative disables rotation. */
  readonly maxBytes: bigint;
  /** The most log files of a container, the current one included; more than 1. */
  readonly maxFiles: number;
  /** The number of containers that are processed at a time. */
  readonly workers: number;
  /** Milliseconds from the end of one listing of containers to the next. */
  readonly periodMs: number;
}

/** Source: pkg/kubelet/apis/config/v1beta1/defaults.go. */
export const DEFAULT_LOG_ROTATION: LogRotationPolicy = {
  maxBytes: 10n * 1024n * 1024n,
  maxFiles: 5,
  workers: 1,
  periodMs: 10_000,
};

/** The logs of running containers, by container ID. */
export interface KnownLogs {
  /** The paths of the logs of containers that ran at the last listing; a path does not change. */
  readonly paths: ImmutableMap<string, string>;
  /** The containers whose log waits for its check or is being checked. */
  readonly underWay: ImmutableSet<string>;
}

export const NO_LOGS: KnownLogs = { paths: ImmutableMap(), underWay: ImmutableSet() };

/** Forgets the paths of the containers that no longer run; `running` are the ids of one listing. */
export const runningListed = (logs: KnownLogs, running: readonly string[]): KnownLogs =>
  updated(logs, { paths: retainKeys(logs.paths, new Set(running)) });

/** Returns the containers of a listing to check, each once: a check that is under way is not begun again. */
export const logsToCheck = ({ underWay }: KnownLogs, running: readonly string[]): readonly string[] =>
  [...new Set(running)].filter((id) => !underWay.has(id));

export const checksBegun = (logs: KnownLogs, containerIds: readonly string[]): KnownLogs =>
  updated(logs, { underWay: logs.underWay.union(containerIds) });

export const checkEnded = (logs: KnownLogs, containerId: string): KnownLogs =>
  updated(logs, { underWay: logs.underWay.delete(containerId) });

export const logFound = (logs: KnownLogs, containerId: string, path: string): KnownLogs =>
  updated(logs, { paths: logs.paths.set(containerId, path) });

/**
 * Returns the path of the log in the status of a container; undefined for one without a log, and for one that does not run any more: a
 * rotation would leave it an empty newest log.
 */
export const rotatedLogOf = (status: Pick<ContainerStatus, 'state' | 'logPath'> | undefined): string | undefined =>
  status?.state === 'CONTAINER_RUNNING' && status.logPath !== '' ? status.logPath : undefined;

/** The changes to older rotated files before the log becomes one of them. All other files stay. */
export interface RotationPlan {
  /** In this order: the rest of unfinished rotations, then the oldest files. */
  readonly remove: readonly string[];
  readonly compress: readonly string[];
}

const UNFINISHED = '.tmp';
const COMPRESSED = '.gz';

/**
 * Makes room for the log among its rotated files, given by path or name. The newest rotated file is left uncompressed,
 * since collectors may still read it and the runtime may still write to it: it is compressed next time.
 *
 * Source: pkg/kubelet/logs/container_log_manager.go rotateLog, filterUnusedLogs, removeExcessLogs
 */
export const planRotation = (rotated: readonly string[], maxFiles: number): RotationPlan => {
  const all = new Set(rotated);
  const isUnfinished = (name: string) => name.endsWith(UNFINISHED) || all.has(name + COMPRESSED);
  // The names end in the time, so that the order of names is that of age.
  const inUse = rotated.filter((name) => !isUnfinished(name)).toSorted();
  // The log itself becomes one, and the runtime creates another.
  const surplus = Math.max(0, inUse.length - Math.max(0, maxFiles - 2));
  return {
    remove: [...rotated.filter(isUnfinished), ...inUse.slice(0, surplus)],
    compress: inUse.slice(surplus).filter((name) => !name.endsWith(COMPRESSED)),
  };
};

/** The temporary file of a compression, and its result. */
export const compressedNames = (path: string): { readonly draft: string; readonly final: string } => ({
  draft: path + UNFINISHED,
  final: path + COMPRESSED,
});

export interface RotationMoment {
  /** Unix milliseconds. */
  readonly at: number;
  /** The offset of the node's time from UTC at that moment, in minutes. */
  readonly utcOffsetMinutes: number;
}

/**
 * Returns the name of a rotated log: `<log>.YYYYMMDD-hhmmss` in the node's time, or the second after its newest rotated file if that
 * is later, as after the clock was set back: the order of names stays that of age, and no file is overwritten.
 */
export const rotatedName = (
  log: string,
  { at, utcOffsetMinutes }: RotationMoment,
  rotated: readonly string[],
): string => {
  const newest = Math.max(-Infinity, ...rotated.flatMap((name) => localTimeOf(log, name) ?? []));
  return `${log}.${stamp(Math.max(at + utcOffsetMinutes * 60_000, newest + 1_000))}`;
};

/** The time in the name of a rotated log, in milliseconds of the node's time; undefined for any other file. */
const localTimeOf = (log: string, name: string): number | undefined => {
  if (!name.startsWith(`${log}.`)) return undefined;
  const digits = /^(\d{4})(\d\d)(\d\d)-(\d\d)(\d\d)(\d\d)(?:\.|$)/.exec(name.slice(log.length + 1));
  if (!digits) return undefined;
  const [year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0] = digits.slice(1).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second);
};

const stamp = (localMs: number): string => {
  const [date = '', time = ''] = new Date(localMs).toISOString().split('T');
  return `${date.replaceAll('-', '')}-${time.slice(0, 8).replaceAll(':', '')}`;
};
