import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { errorText } from '../model/cri-error.js';
import { BLOCK_HEADER_BYTES, blockLength, contentOf, isBeginning } from './gzip-block.js';
import { isInput, isOutput, type RecordingEntry, type RecordingHeader } from './recording-entry.js';

/** A recording whose entries are read as they are asked for. */
export interface RecordingReader {
  readonly path: string;
  readonly header: RecordingHeader;
  /**
   * The entries after the header, each from the disk when it is asked for; once. Errors: with the file and the number of the
   * entry, where it is damaged or no entry. The header is entry 0.
   */
  readonly entries: Iterable<RecordingEntry>;
  /** Bytes at the end that are no whole block, once all entries were read: a kill has torn it, or it is being written. */
  readonly tornBytes: () => number;
  readonly close: () => void;
}

/**
 * Opens what `createRecordingFile` has written; safe while it is being written. A torn end is as if it were not there.
 *
 * Errors: throws, with the name of the file, when it cannot be read, is no recording, or one of a format that is not known here.
 */
export const openRecording = (path: string): RecordingReader => {
  const descriptor = open(path);
  let tornBytes = 0;
  try {
    const entries = readEntries(
      path,
      readLines(path, descriptor, (bytes) => (tornBytes = bytes)),
    );
    const first = entries.next();
    if (first.done) throw new Error(`${path} has no whole block that could be read`);
    const header = headerOf(path, first.value);
    return { path, header, entries, tornBytes: () => tornBytes, close: () => closeSync(descriptor) };
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

function* readEntries(path: string, lines: Iterable<string>): Generator<RecordingEntry, void> {
  let number = 0;
  for (const line of lines) {
    yield parseEntry(line, `entry ${number} of ${path}`);
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
    const isTorn = length === undefined ? isRest(header, size - at) : length > size - at;
    if (isTorn) return torn(size - at);
    const block = length === undefined ? undefined : readAt(path, descriptor, at, length);
    const content = block && contentOf(block);
    if (!content) {
      if (at === 0 && length === undefined)
        throw new Error(`${path} is no recording: it does not begin with a block of one`);
      // A machine that went down may have kept the length of the file and lost what was in it.
      if (length !== undefined && at + length === size) return torn(size - at);
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

/** Whether what is left is the beginning of a block that was never written whole, or nothing but zeros. */
const isRest = (header: Buffer, left: number): boolean =>
  (left < BLOCK_HEADER_BYTES && isBeginning(header)) || header.every((byte) => byte === 0);

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
