import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorText } from '../../../model/cri/cri-error.js';
import { BLOCK_HEADER_BYTES, blockLength, contentOf, isBeginning, isUnwritten, nextMagic } from './gzip-block.js';
import { isInput, isOutput, type RecordingEntry, type RecordingHeader } from '../entries/recording-entry.js';

/** A recording whose entries are read on demand. */
export interface RecordingReader {
  readonly path: string;
  readonly header: RecordingHeader;
  /**
   * The entries after the header, each read from the disk on demand; once. Errors: with the file and the number of the
   * entry, if it is damaged or invalid. The header is entry 0.
   */
  readonly entries: Iterable<RecordingEntry>;
  /**
   * The bytes of an incomplete block at the end, once all entries were read: a kill has torn it, or it is being
   * written.
   */
  readonly tornBytes: () => number;
  /**
   * The number of the entry with which another recording begins after this one, once all entries were read; none of it
   * is read.
   */
  readonly secondFrom: () => number | undefined;
  readonly close: () => void;
}

/**
 * Opens a file of `createRecordingFile`; safe while it is being written. A torn end is ignored.
 *
 * Errors: throws, with the name of the file, if it cannot be read, is no recording, or has an unknown format.
 */
export const openRecording = (path: string): RecordingReader => {
  const descriptor = open(path);
  let tornBytes = 0;
  let secondFrom: number | undefined;
  try {
    const entries = readEntries(
      path,
      readLines(path, descriptor, (bytes) => (tornBytes = bytes)),
      (number) => (secondFrom = number),
    );
    const first = entries.next();
    if (first.done) throw new Error(`${path} has no complete block`);
    const header = headerOf(path, first.value);
    return {
      path,
      header,
      entries,
      tornBytes: () => tornBytes,
      secondFrom: () => secondFrom,
      close: () => closeSync(descriptor),
    };
  } catch (error) {
    closeSync(descriptor);
    throw error;
  }
};

const headerOf = (path: string, entry: RecordingEntry): RecordingHeader => {
  if (entry.kind !== 'recording') throw new Error(`${path} is no recording: its first entry is not the header of one`);
  const { format } = entry as { readonly format: unknown };
  if (format !== FORMAT) {
    throw new Error(`${path} is a recording of format ${String(format)}; this version reads format ${FORMAT}`);
  }
  return entry;
};

const FORMAT: RecordingHeader['format'] = 1;

function* readEntries(
  path: string,
  lines: Iterable<string>,
  second: (number: number) => void,
): Generator<RecordingEntry, void> {
  let number = 0;
  for (const line of lines) {
    const entry = parseEntry(line, `entry ${number} of ${path}`);
    if (entry.kind === 'recording' && number > 0) return second(number);
    yield entry;
    number += 1;
  }
}

const parseEntry = (line: string, what: string): RecordingEntry => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch (error) {
    throw new Error(`${what} is not JSON: ${errorText(error)}`, { cause: error });
  }
  const { kind } = (value ?? {}) as { readonly kind?: unknown };
  if (typeof kind !== 'string') throw new Error(`${what} has no kind`);
  const entry = value as RecordingEntry;
  if (entry.kind !== 'recording' && entry.kind !== 'cut' && !isInput(entry) && !isOutput(entry)) {
    throw new Error(`${what} is of the unknown kind ${JSON.stringify(kind)}`);
  }
  return entry;
};

const open = (path: string): number => {
  try {
    return openSync(path, 'r');
  } catch (error) {
    throw new Error(`the recording cannot be read: ${errorText(error)}`, { cause: error });
  }
};

function* readLines(path: string, descriptor: number, torn: (bytes: number) => void): Generator<string, void> {
  const size = sizeOf(path, descriptor);
  let entries = 0;
  for (let at = 0; at < size;) {
    const header = readAt(path, descriptor, at, Math.min(BLOCK_HEADER_BYTES, size - at));
    const length = blockLength(header);
    const isShort = length === undefined ? isRest(header, size - at) : length > size - at;
    if (isShort && !hasBlockAfter(path, descriptor, at, size)) return torn(size - at);
    const block = length === undefined || isShort ? undefined : readAt(path, descriptor, at, length);
    const content = block && contentOf(block);
    if (!content) {
      if (at === 0 && length === undefined)
        throw new Error(`${path} is no recording: it does not begin with a block of one`);
      if (block && at + block.length === size && isUnwritten(block)) return torn(size - at);
      const place = entries === 0 ? 'at its beginning' : `after entry ${entries - 1}`;
      throw new Error(`${path} is damaged ${place}: no whole block begins at byte ${at}`);
    }
    for (let from = 0; from < content.length;) {
      const end = content.indexOf(0x0a, from);
      const line = content.toString('utf8', from, end < 0 ? content.length : end);
      from = end < 0 ? content.length : end + 1;
      entries += 1;
      yield line;
    }
    at += length ?? 0;
  }
}

/** Whether the rest is the beginning of a block that was never written whole, or nothing but zeros. */
const isRest = (header: Buffer, left: number): boolean =>
  (left < BLOCK_HEADER_BYTES && isBeginning(header)) || header.every((byte) => byte === 0);

/** Whether another block follows a place: then the bytes before it are damaged, not torn. */
const hasBlockAfter = (path: string, descriptor: number, place: number, size: number): boolean => {
  // Parts overlap, so that no header is split between them.
  for (let from = place + 1; from + BLOCK_HEADER_BYTES <= size; from += PART_BYTES) {
    const part = readAt(path, descriptor, from, Math.min(PART_BYTES + BLOCK_HEADER_BYTES, size - from));
    for (let at = nextMagic(part, 0); at >= 0; at = nextMagic(part, at + 1)) {
      const length = blockLength(part.subarray(at));
      const isInside = length !== undefined && from + at + length <= size;
      if (isInside && contentOf(readAt(path, descriptor, from + at, length))) return true;
    }
  }
  return false;
};

const PART_BYTES = 1024 * 1024;

const sizeOf = (path: string, descriptor: number): number => {
  const stats = fstatSync(descriptor);
  if (!stats.isFile()) throw new Error(`${path} is no recording: it is not a file`);
  return stats.size;
};

const readAt = (path: string, descriptor: number, at: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  let done = 0;
  while (done < length) {
    const count = readSync(descriptor, bytes, done, length - done, at + done);
    if (count === 0) throw new Error(`${path} has become shorter while it was read`);
    done += count;
  }
  return bytes;
};
