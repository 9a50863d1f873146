import { type LogLine, parseDockerLine } from '../cri/log-line.js';
import { criHeader } from './cri-header.js';
import { logTimestamp } from './log-time.js';

/** One physical line of a log file, with its content as bytes: the output of a container is not always text. */
export interface LogRecord {
  readonly stream: LogLine['stream'];
  /** With its line break, unless a further line continues it. */
  readonly content: Uint8Array;
  /** RFC 3339 with up to nine digits of a second, unchanged. */
  readonly timestamp: () => string;
  /** The time as it stands before the content, with a space behind it. */
  readonly prefix: () => Uint8Array;
}

/** Parses one line, with its newline if it has one; undefined for a line that is not in the format. */
export type ParseRecord = (line: Uint8Array) => LogRecord | undefined;

/**
 * Returns the format of a file by its first line; undefined if it is neither that of CRI runtimes nor that of Docker.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go getParseFunc
 */
export const recordFormat = (firstLine: Uint8Array): ParseRecord | undefined =>
  [criRecord, dockerRecord].find((parse) => parse(firstLine) !== undefined);

const NEWLINE = 10;

/** Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseCRILog. */
const criRecord: ParseRecord = (line) => {
  const header = criHeader(line);
  if (!header) return undefined;
  const { timeEnd, isExact, stream, isPartial, contentStart } = header;
  const isTerminated = line[line.length - 1] === NEWLINE;
  const timestamp = (): string => String.fromCharCode(...line.subarray(0, timeEnd));
  return {
    stream,
    content: line.subarray(contentStart, isPartial && isTerminated ? -1 : undefined),
    timestamp,
    prefix: () => (isExact ? line.subarray(0, timeEnd + 1) : prefixOf(timestamp())),
  };
};

/** Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseDockerJSONLog. */
const dockerRecord: ParseRecord = (line) => {
  const parsed = parseDockerLine(new TextDecoder().decode(line));
  if (!parsed) return undefined;
  const { timestamp, stream, isPartial, content } = parsed;
  return {
    stream,
    content: new TextEncoder().encode(isPartial ? content : `${content}\n`),
    timestamp: () => timestamp,
    prefix: () => prefixOf(timestamp),
  };
};

const prefixOf = (timestamp: string): Uint8Array => new TextEncoder().encode(`${logTimestamp(timestamp)} `);
