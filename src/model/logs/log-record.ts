import { type LogLine, parseCriLine, parseDockerLine } from '../cri/log-line.js';

/** One physical line of a log file, with its content as bytes: the output of a container is not always text. */
export interface LogRecord extends Pick<LogLine, 'timestamp' | 'stream'> {
  /** With its line break, unless a further line continues it. */
  readonly content: Uint8Array;
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
const SPACE = 32;
/** The length of a time, the name of a stream and tags, and more. */
const LONGEST_HEADER = 1024;

/** Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseCRILog. */
const criRecord: ParseRecord = (line) => {
  const start = startOfContent(line);
  if (start === undefined) return undefined;
  const header = parseCriLine(String.fromCharCode(...line.subarray(0, start)));
  if (!header) return undefined;
  const { timestamp, stream, isPartial } = header;
  const isTerminated = line.at(-1) === NEWLINE;
  return { timestamp, stream, content: line.subarray(start, isPartial && isTerminated ? -1 : undefined) };
};

/** The position behind the third space. */
const startOfContent = (line: Uint8Array): number | undefined => {
  let position = 0;
  for (let fields = 0; fields < 3; fields += 1) {
    position = line.indexOf(SPACE, position) + 1;
    if (position === 0 || position > LONGEST_HEADER) return undefined;
  }
  return position;
};

/** Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseDockerJSONLog. */
const dockerRecord: ParseRecord = (line) => {
  const parsed = parseDockerLine(new TextDecoder().decode(line));
  if (!parsed) return undefined;
  const { timestamp, stream, isPartial, content } = parsed;
  return { timestamp, stream, content: new TextEncoder().encode(isPartial ? content : `${content}\n`) };
};
