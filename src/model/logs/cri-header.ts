import type { LogLine } from '../cri/log-line.js';

/** The header of a line in the format of CRI runtimes, as positions in its bytes. */
export interface CriHeader {
  /** The end of the time, which begins the line. */
  readonly timeEnd: number;
  /** The time has nine digits of a second, as it is printed. */
  readonly isExact: boolean;
  readonly stream: LogLine['stream'];
  /** The next line of the stream continues this one. */
  readonly isPartial: boolean;
  readonly contentStart: number;
}

const [SPACE, COLON, DASH, PLUS, DOT, ZERO, NINE, P, T, Z] = [...' :-+.09PTZ'].map((char) => char.charCodeAt(0)) as [
  ...[number, number, number, number, number, number, number, number, number, number],
];
const STDOUT = [...'stdout'].map((char) => char.charCodeAt(0));
const STDERR = [...'stderr'].map((char) => char.charCodeAt(0));
/** The length of a time, the name of a stream and tags, and more. */
const LONGEST_HEADER = 1024;

/**
 * Reads the header from the bytes: a log has a million of them, and most are never needed as text. Undefined for a line in another
 * format; accepts exactly what `parseCriLine` accepts, with tags that end within the first KiB.
 *
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go parseCRILog
 */
export const criHeader = (line: Uint8Array): CriHeader | undefined => {
  if (!isDate(line)) return undefined;
  let position = 19;
  let digits = 0;
  if (line[position] === DOT) {
    while (isDigit(line[position + 1 + digits])) digits += 1;
    if (digits === 0) return undefined;
    position += 1 + digits;
  }
  const zone = line[position];
  if (zone === Z) position += 1;
  else if ((zone === PLUS || zone === DASH) && isZone(line, position + 1)) position += 6;
  else return undefined;
  const timeEnd = position;
  if (line[position] !== SPACE || line[position + 7] !== SPACE) return undefined;
  const isStdout = has(line, position + 1, STDOUT);
  if (!isStdout && !has(line, position + 1, STDERR)) return undefined;
  const tags = position + 8;
  const end = line.indexOf(SPACE, tags);
  if (end === -1 || end >= LONGEST_HEADER) return undefined;
  // Colons separate the tags; the first one tags a whole or partial line, further ones are reserved.
  const isPartial = line[tags] === P && (end === tags + 1 || line[tags + 1] === COLON);
  const isExact = digits === 9 && !(zone !== Z && isZeroZone(line, timeEnd - 5));
  return { timeEnd, isExact, stream: isStdout ? 'stdout' : 'stderr', isPartial, contentStart: end + 1 };
};

/** `YYYY-MM-DDThh:mm:ss`. */
const isDate = (line: Uint8Array): boolean =>
  isDigit(line[0]) &&
  isDigit(line[1]) &&
  isDigit(line[2]) &&
  isDigit(line[3]) &&
  line[4] === DASH &&
  isBetween(line, 5, 1, 12) &&
  line[7] === DASH &&
  isBetween(line, 8, 1, 31) &&
  line[10] === T &&
  isBetween(line, 11, 0, 23) &&
  line[13] === COLON &&
  isBetween(line, 14, 0, 59) &&
  line[16] === COLON &&
  isBetween(line, 17, 0, 59);

/** `hh:mm`. */
const isZone = (line: Uint8Array, at: number): boolean =>
  isBetween(line, at, 0, 99) && line[at + 2] === COLON && isBetween(line, at + 3, 0, 59);

const isZeroZone = (line: Uint8Array, at: number): boolean =>
  isBetween(line, at, 0, 0) && isBetween(line, at + 3, 0, 0);

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE;

const isBetween = (line: Uint8Array, at: number, least: number, most: number): boolean => {
  const [tens, ones] = [line[at] ?? 0, line[at + 1] ?? 0];
  if (!isDigit(tens) || !isDigit(ones)) return false;
  const value = (tens - ZERO) * 10 + ones - ZERO;
  return value >= least && value <= most;
};

const has = (line: Uint8Array, at: number, bytes: readonly number[]): boolean => {
  for (let index = 0; index < bytes.length; index += 1) if (line[at + index] !== bytes[index]) return false;
  return true;
};
