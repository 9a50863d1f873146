import { logInstant } from './log-time.js';
import type { LogStream } from './log-options.js';
import { type LogRecord, type ParseRecord, recordFormat } from './log-record.js';

/** The lines of a file that a reader wants, and their form. */
export interface LogPrintOptions {
  readonly stream: LogStream;
  readonly timestamps: boolean;
  /** Unix nanoseconds; older lines are left out. */
  readonly since?: bigint;
  /** The most bytes of output, with the times before the lines. */
  readonly limitBytes?: number;
  /** The most physical lines of the file. Older ones and those of another stream count, lines without the format do not. */
  readonly maxLines?: number;
}

/** Turns the bytes of a log file into the bytes of the output. */
export interface LogPrinter {
  /** Takes the next bytes of the file and returns the output of the lines that they complete. */
  readonly print: (bytes: Uint8Array) => Uint8Array;
  /** Returns the output of a last line without a line break, and forgets that line. */
  readonly printRest: () => Uint8Array;
  /** Forgets a line that has begun: the next bytes are those of another file. */
  readonly forget: () => void;
  /** Whether a limit is reached: further bytes have no output. */
  readonly isFull: () => boolean;
}

const NEWLINE = 10;
const NOTHING = new Uint8Array();

/**
 * A printer for one reader. Continued lines are joined: the output has a line break where the output of the container has
 * one, and a time where a line begins. Lines that cannot be parsed are left out.
 *
 * Errors: `print` and `printRest` throw if the first line is in no known format.
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go ReadLogs, logWriter
 */
export const logPrinter = ({
  stream,
  timestamps,
  since,
  limitBytes = Infinity,
  maxLines = Infinity,
}: LogPrintOptions): LogPrinter => {
  const wanted = stream === 'All' ? undefined : stream === 'Stdout' ? 'stdout' : 'stderr';
  let parse: ParseRecord | undefined;
  let beginning: Uint8Array[] = [];
  let bytesLeft = limitBytes;
  let linesLeft = maxLines;
  /** All streams share it, as upstream: the output is one text. */
  let isLineStart = true;

  const isFull = (): boolean => bytesLeft <= 0 || linesLeft <= 0;

  const isWanted = (record: LogRecord): boolean =>
    (wanted === undefined || record.stream === wanted) &&
    (since === undefined || (logInstant(record.timestamp()) ?? since) >= since);

  const printPart = (part: Uint8Array, to: Uint8Array[]): void => {
    const fitting = part.length <= bytesLeft ? part : part.subarray(0, bytesLeft);
    bytesLeft -= fitting.length;
    to.push(fitting);
  };

  const printLine = (line: Uint8Array, to: Uint8Array[]): void => {
    if (isFull()) return;
    parse ??= recordFormat(line);
    if (!parse) throw new Error(`unsupported log format: ${JSON.stringify(new TextDecoder().decode(line))}`);
    const record = parse(line);
    if (!record) return;
    linesLeft -= 1;
    if (isWanted(record)) {
      if (timestamps && isLineStart) printPart(record.prefix(), to);
      printPart(record.content, to);
    }
    const { content } = record;
    isLineStart = content.length === 0 || content[content.length - 1] === NEWLINE;
  };

  return {
    isFull,
    print: (bytes) => {
      const output: Uint8Array[] = [];
      let start = 0;
      for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
        const line = bytes.subarray(start, end + 1);
        printLine(beginning.length === 0 ? line : joined([...beginning, line]), output);
        beginning = [];
        start = end + 1;
      }
      if (start < bytes.length) beginning.push(bytes.subarray(start));
      return joined(output);
    },
    printRest: () => {
      const output: Uint8Array[] = [];
      const rest = joined(beginning);
      beginning = [];
      if (rest.length > 0) printLine(rest, output);
      return joined(output);
    },
    forget: () => (beginning = []),
  };
};

const joined = (parts: readonly Uint8Array[]): Uint8Array => {
  if (parts.length === 0) return NOTHING;
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let position = 0;
  for (const part of parts) {
    whole.set(part, position);
    position += part.length;
  }
  return whole;
};
