import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writeSync } from 'node:fs';
import { errorText } from '../model/cri/cri-error.js';
import type { JournalEntry, JournalId, JournalRecord } from '../model/journal/journal.js';
import { makeDirectoriesSync } from '../processes/make-directories.js';
import type { Logger } from '../streams/ports/logger.js';
import type { RecordJournal } from '../streams/ports/record-journal.js';
import { journalFile, journalFileAges } from './journal-files.js';

export interface JournalOptions {
  readonly directory: string;
  /** Identifies this run of the agent; the IDs of entries are `<runId>-<sequence number>`. */
  readonly runId: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  readonly log: Logger;
  /** The size at which the file is rotated. Default 4 MiB. */
  readonly maxBytes?: number;
  /** The count of files, including the current one. Default 8. */
  readonly maxFiles?: number;
}

export interface Journal {
  readonly record: RecordJournal;
  /** Writes the buffered entries synchronously. */
  readonly flush: () => void;
  /** Flushes and closes the file. Later records are dropped. */
  readonly close: () => void;
}

/** The time that entries stay in memory; a kill loses the entries of this time. */
const FLUSH_AFTER_MS = 5;
/** A longer buffer is written at once. */
const FLUSH_AT_LENGTH = 64 * 1024;

/**
 * Appends entries as JSON lines to `journal.jsonl` in the directory, in batches: a record costs one `JSON.stringify`,
 * and all records of a few milliseconds cost one synchronous write. Full files become `journal.1.jsonl`,
 * `journal.2.jsonl` ... and the oldest is removed, so that the journal takes at most `maxFiles * maxBytes` plus one
 * batch.
 *
 * Errors: none. Entries that cannot be written are counted and dropped, the first failure in a row is logged, and the
 * first batch after the failures starts with an `entries-dropped` entry.
 */
export function createJournal({
  directory,
  runId,
  now,
  log,
  maxBytes = 4 * 1024 * 1024,
  maxFiles = 8,
}: JournalOptions): Journal {
  let sequence = 0;
  let batch: string[] = [];
  let batchLength = 0;
  let flushTimer: NodeJS.Timeout | undefined;
  let file: { readonly descriptor: number; size: number; endsInLine: boolean } | undefined;
  let dropped = 0;
  let isClosed = false;

  const nextLine = (record: JournalRecord): { readonly id: JournalId; readonly line: string } => {
    const id = `${runId}-${++sequence}`;
    const entry: JournalEntry = { id, at: now(), ...record };
    return { id, line: `${stringify(entry)}\n` };
  };

  const open = () => {
    makeDirectoriesSync(directory, 0o750);
    const descriptor = openSync(journalFile(directory, 0), 'a+', 0o640);
    const { size } = fstatSync(descriptor);
    return { descriptor, size, endsInLine: size > 0 && !endsWithNewline(descriptor, size) };
  };

  const release = () => {
    if (!file) return;
    const { descriptor } = file;
    file = undefined;
    try {
      closeSync(descriptor);
    } catch {
      // The descriptor is closed even after an error, and the write has logged entries that it could not write.
    }
  };

  const rotate = () => {
    release();
    for (const age of journalFileAges(directory)) {
      if (age + 1 >= maxFiles) rmSync(journalFile(directory, age), { force: true });
      else renameSync(journalFile(directory, age), journalFile(directory, age + 1));
    }
    file = open();
  };

  const append = (text: string) => {
    const bytes = Buffer.from(text);
    file ??= open();
    if (file.size > 0 && file.size + bytes.length > maxBytes) rotate();
    // The next line must not continue a line that a kill or a full disk cut short.
    if (file.endsInLine) file.size += writeSync(file.descriptor, '\n');
    file.endsInLine = false;
    for (let written = 0; written < bytes.length;) {
      const count = writeSync(file.descriptor, bytes, written);
      written += count;
      file.size += count;
      file.endsInLine = written < bytes.length;
    }
  };

  const flush = () => {
    clearTimeout(flushTimer);
    flushTimer = undefined;
    if (batch.length === 0) return;
    const lines = batch;
    batch = [];
    batchLength = 0;
    try {
      const notice = dropped > 0 ? nextLine({ kind: 'entries-dropped', count: dropped, causes: [] }).line : '';
      append(notice + lines.join(''));
      if (dropped > 0) log.info({ directory, dropped }, 'writing the journal works again');
      dropped = 0;
    } catch (error) {
      if (dropped === 0) {
        log.warn(
          { directory, error: errorText(error) },
          'cannot write the journal; entries are dropped until it works',
        );
      }
      dropped += lines.length;
      release();
    }
  };

  // Covers process.exit and the end of the event loop; a kill -9 loses the entries of the last few milliseconds.
  process.on('exit', flush);

  return {
    record: (record) => {
      const { id, line } = nextLine(record);
      if (isClosed) return id;
      batch.push(line);
      batchLength += line.length;
      if (batchLength >= FLUSH_AT_LENGTH) flush();
      else flushTimer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
      return id;
    },
    flush,
    close: () => {
      flush();
      release();
      isClosed = true;
      process.off('exit', flush);
    },
  };
}

const endsWithNewline = (descriptor: number, size: number): boolean => {
  const last = Buffer.alloc(1);
  readSync(descriptor, last, 0, 1, size - 1);
  return last[0] === 0x0a;
};

/** A record of a user's own source may hold values that JSON cannot represent; then the line holds the reason. */
const stringify = (entry: JournalEntry): string => {
  try {
    return JSON.stringify(entry);
  } catch {
    const { id, at, kind, causes, pod, container } = entry;
    return JSON.stringify({ id, at, kind, causes, pod, container });
  }
};
