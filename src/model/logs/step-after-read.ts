/** The facts about a followed log when its open file is read to its end. */
export interface LogRead {
  /** A limit of the output is reached. */
  readonly isFull: boolean;
  /** The identity of the open file. */
  readonly identity: string;
  /** The identity of the file at the path; undefined if there is none. */
  readonly identityAtPath: string | undefined;
  /** The size of the open file, in bytes. */
  readonly size: number;
  /** The position up to which the open file was read, in bytes. */
  readonly position: number;
  /** The container had ended before the read. */
  readonly hasEnded: boolean;
}

/**
 * `end`: nothing more is printed. `next-file`: the log goes on in the file at the path. `start-over`: the open file was truncated.
 * `last-line`: a last line without a line break is the end of the log. `ask`: the log goes on if its container runs.
 */
export type LogStep = 'end' | 'next-file' | 'start-over' | 'last-line' | 'ask';

/**
 * Decides how a followed log goes on. The first matching row decides.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go ReadLogs, waitLogs
 */
export const stepAfterRead = ({ isFull, identity, identityAtPath, size, position, hasEnded }: LogRead): LogStep => {
  if (isFull) return 'end';
  // Between the two steps of a rotation there is no file at the path.
  if (identityAtPath !== undefined && identityAtPath !== identity) return 'next-file';
  if (size < position) return 'start-over';
  return hasEnded ? 'last-line' : 'ask';
};
