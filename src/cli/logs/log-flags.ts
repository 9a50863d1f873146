import { InvalidArgumentError } from 'commander';
import { logInstant } from '../../model/logs/log-time.js';
import { logOptionProblems, type LogOptions, type LogStream } from '../../model/logs/log-options.js';
import { parseGoDuration } from '../../model/values/go-duration.js';

/** The flags of `logs`, as commander returns them. */
export interface LogFlags {
  readonly container?: string;
  readonly namespace?: string;
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tail: number;
  /** Milliseconds. */
  readonly since: number;
  readonly sinceTime?: string;
  readonly limitBytes: number;
  readonly stream: 'stdout' | 'stderr' | 'all';
  readonly rootDir: string;
  readonly podLogsDir: string;
  readonly containerRuntimeEndpoint: string;
}

export const logNumber = (text: string): number => {
  if (!/^-?\d{1,15}$/.test(text)) throw new InvalidArgumentError('expected a whole number');
  return Number(text);
};

/** Milliseconds. */
export const logDuration = (text: string): number => {
  const milliseconds = parseGoDuration(text);
  if (milliseconds === undefined) throw new InvalidArgumentError('expected a duration such as 5s, 2m or 3h');
  return milliseconds;
};

export const logDate = (text: string): string => {
  if (logInstant(text) === undefined) throw new InvalidArgumentError('expected RFC 3339 such as 2026-01-31T12:00:00Z');
  return text;
};

const STREAMS: Readonly<Record<LogFlags['stream'], LogStream>> = { all: 'All', stdout: 'Stdout', stderr: 'Stderr' };

/**
 * Returns the request of the flags. `--tail -1`, `--since 0` and `--limit-bytes 0` are those of no flag.
 *
 * Errors: the flags contradict each other or are out of range, in the texts of kubectl and of the API.
 * Source: staging/src/k8s.io/kubectl/pkg/cmd/logs/logs.go Validate, ToLogOptions
 */
export const readLogFlags = (flags: LogFlags): LogOptions => {
  const { follow, previous, timestamps, tail, since, sinceTime, limitBytes, stream } = flags;
  if (since < 0) throw new Error('--since must be greater than 0');
  if (limitBytes < 0) throw new Error('--limit-bytes must be greater than 0');
  if (tail < -1) throw new Error('--tail must be greater than or equal to -1');
  const options: LogOptions = {
    ...{ follow, previous, timestamps, stream: STREAMS[stream] },
    ...(since !== 0 && { sinceSeconds: Math.round(since / 1_000) }),
    ...(sinceTime !== undefined && { sinceTime }),
    ...(tail !== -1 && { tailLines: tail }),
    ...(limitBytes !== 0 && { limitBytes }),
  };
  const problems = logOptionProblems(options);
  if (problems.length > 0) throw new Error(problems.join(', '));
  return options;
};

/** The container of the command line. Errors: it is named in both places. */
export const requestedContainer = (argument: string | undefined, flag: string | undefined): string | undefined => {
  if (argument !== undefined && flag !== undefined) {
    throw new Error('only one of -c or an inline [CONTAINER] arg is allowed');
  }
  return argument ?? flag;
};
