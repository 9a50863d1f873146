import { close, closeSync, ftruncateSync, openSync, write, writeSync } from 'node:fs';
import { parse, join } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync } from 'node:zlib';
import { errorText } from '../../../model/cri/cri-error.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { gzipBlock } from './gzip-block.js';

export interface RecordingFileOptions {
  /**
   * The path of the recording. An existing file stays: the recording is then `name-2.ext`, `name-3.ext` ... beside it.
   */
  readonly path: string;
  /** The last line of a recording that ends before the agent does. */
  readonly lastLine: (reason: string) => string;
  /** The most bytes on the disk; the recording ends at this limit. */
  readonly maxBytes: number;
  readonly log: Logger;
  /** The most characters that wait for the disk; the recording ends at this limit. Default 64 Mi. */
  readonly maxWaiting?: number;
}

/** A recording that is being written. */
export interface RecordingFile {
  /** The path of the written file. */
  readonly path: string;
  /** Takes one line, without its end; it is on the disk within about a second. Never fails, never waits. */
  readonly append: (line: string) => void;
  /** Whether lines are still taken: a recording ends for good at a limit or a disk error. */
  readonly isOpen: () => boolean;
  /** Resolves when all lines are on the disk, and closes the file. */
  readonly close: () => Promise<void>;
}

/** The time whose lines a kill may lose, in addition to the time of writing. */
const FLUSH_AFTER_MS = 500;
/** A burst is written as soon as it has this many characters, at any time. */
const FLUSH_AT_LENGTH = 512 * 1024;
/** The bytes reserved for the last line. */
const RESERVE_BYTES = 4096;
/** A lower level would save little: another thread compresses a second of a busy node in two milliseconds. */
const LEVEL = { level: 6 };
const MOST_FILES = 10_000;

/**
 * Opens a file, which only its owner may read, for the lines of a recording: gzip blocks of the lines of half a second
 * each, made and written by threads of Node.js. A kill loses the newest lines; the earlier ones can be read.
 *
 * Errors: throws if the file cannot be created. A full disk, or one that is too slow, ends the recording with a warning
 * in the log.
 */
export const createRecordingFile = (options: RecordingFileOptions): RecordingFile => {
  const { lastLine, maxBytes, log, maxWaiting = 64 * 1024 * 1024 } = options;
  const { path, descriptor } = openNext(options.path);
  let waiting: string[] = [];
  let waitingLength = 0;
  /** The block that is being written, and its position. */
  let block: { readonly content: Buffer; readonly at: number } | undefined;
  let size = 0;
  let timer: NodeJS.Timeout | undefined;
  let isOpen = true;
  let hasEnded = false;
  let written: Promise<void> = Promise.resolve();

  const takeBlock = (): { readonly content: Buffer; readonly at: number } => {
    clearTimeout(timer);
    timer = undefined;
    const content = Buffer.from(waiting.join(''));
    waiting = [];
    waitingLength = 0;
    return { content, at: size };
  };

  /** Ends the recording with a last line that states the reason. */
  const end = (reason: string, lines: readonly string[]): void => {
    if (hasEnded) return;
    hasEnded = true;
    isOpen = false;
    log.warn({ path, reason }, 'the recording has ended; the agent goes on without it');
    waiting = [...lines, `${lastLine(reason)}\n`];
  };

  const fits = (bytes: Buffer): boolean => size + bytes.length + (hasEnded ? 0 : RESERVE_BYTES) <= maxBytes;
  const full = (): void => end(`it would be larger than ${maxBytes} bytes`, []);
  const broken = (error: unknown): void => {
    end(errorText(error), []);
    // The file ends with a whole block, and the disk has room for the short last line.
    try {
      ftruncateSync(descriptor, size);
    } catch {
      // A reader finds the torn block by itself.
    }
  };

  const writeWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      const isLast = hasEnded;
      block = takeBlock();
      try {
        const bytes = gzipBlock(block.content, await deflate(block.content, LEVEL));
        if (!fits(bytes)) full();
        else {
          await writeAll(descriptor, bytes, block.at);
          size += bytes.length;
        }
      } catch (error) {
        broken(error);
        // A disk that does not accept the last line either accepts no further message.
        if (isLast) waiting = [];
      }
      block = undefined;
    }
  };

  const flush = (): void => {
    if (!block && waiting.length > 0) written = writeWaiting();
  };

  /**
   * Writes synchronously at the end of the process: a block that is being written is written again, at its position.
   */
  const writeAtExit = (): void => {
    const rest = [...(block ? [block.content] : []), takeBlock().content].filter((content) => content.length > 0);
    try {
      for (const content of rest) {
        const bytes = gzipBlock(content, deflateRawSync(content, LEVEL));
        if (!fits(bytes)) return;
        for (let done = 0; done < bytes.length;) done += writeSync(descriptor, bytes, done, undefined, size + done);
        size += bytes.length;
      }
      closeSync(descriptor);
    } catch {
      // The process ends, so that no caller is left for the error.
    }
  };
  process.on('exit', writeAtExit);

  return {
    path,
    append: (line) => {
      if (!isOpen) return;
      waiting.push(line, '\n');
      waitingLength += line.length + 1;
      if (waitingLength > maxWaiting) end('the disk is too slow for it', waiting);
      // The header is written at once: with it the file is a recording.
      if (waitingLength >= FLUSH_AT_LENGTH || size === 0) flush();
      else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
    },
    isOpen: () => isOpen,
    close: async () => {
      isOpen = false;
      // Lines may have come while a block was being written.
      while (block || waiting.length > 0) {
        flush();
        await written;
      }
      process.off('exit', writeAtExit);
      await closed(descriptor);
    },
  };
};

const deflate = promisify<Buffer, { readonly level: number }, Buffer>(deflateRaw);
const closed = promisify(close);

const writeAll = async (descriptor: number, bytes: Buffer, at: number): Promise<void> => {
  for (let done = 0; done < bytes.length;) {
    done += await new Promise<number>((resolve, reject) =>
      write(descriptor, bytes, done, bytes.length - done, at + done, (error, count) =>
        error ? reject(error) : resolve(count),
      ),
    );
  }
};

/** Returns the first of `name.ext`, `name-2.ext` ... that does not exist yet. */
const openNext = (wanted: string): { readonly path: string; readonly descriptor: number } => {
  const { dir, name, ext } = parse(wanted);
  for (let number = 1; number < MOST_FILES; number++) {
    const path = number === 1 ? wanted : join(dir, `${name}-${number}${ext}`);
    try {
      return { path, descriptor: openSync(path, 'wx', 0o600) };
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  }
  throw new Error(`there are ${MOST_FILES - 1} recordings of the name ${wanted} already`);
};
