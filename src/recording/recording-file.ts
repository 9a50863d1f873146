import { close, closeSync, ftruncateSync, openSync, write, writeSync } from 'node:fs';
import { parse, join } from 'node:path';
import { promisify } from 'node:util';
import { deflateRaw, deflateRawSync } from 'node:zlib';
import { errorText } from '../model/cri-error.js';
import type { Logger } from '../streams/ports.js';
import { gzipBlock } from './gzip-block.js';

export interface RecordingFileOptions {
  /** Where the recording goes. A file that is there is left alone: then it goes to `name-2.ext`, `name-3.ext` ... beside it. */
  readonly path: string;
  /** The last line of a recording that ends before the agent does. */
  readonly lastLine: (reason: string) => string;
  /** Bytes on the disk; the recording ends before it has more. */
  readonly maxBytes: number;
  readonly log: Logger;
  /** Characters that may wait for the disk; the recording ends when more have to. Default 64 Mi. */
  readonly maxWaiting?: number;
}

/** A recording that is being written. */
export interface RecordingFile {
  /** The file that is written. */
  readonly path: string;
  /** Takes one line, without its end; it is on the disk within a second or so. Never fails, never waits. */
  readonly append: (line: string) => void;
  /** Whether lines are still taken: a recording ends for good when it is full, or when the disk is. */
  readonly isOpen: () => boolean;
  /** Resolves when everything is on the disk, and lets go of the file. */
  readonly close: () => Promise<void>;
}

/** What a kill may lose, together with what writing takes. */
const FLUSH_AFTER_MS = 500;
/** A burst is written as soon as it has this many characters, whatever the time. */
const FLUSH_AT_LENGTH = 512 * 1024;
/** What the last line may need. */
const RESERVE_BYTES = 4096;
/** Less would save next to nothing: a second of a busy node is compressed in two milliseconds, by another thread. */
const LEVEL = { level: 6 };
const MOST_FILES = 10_000;

/**
 * Opens a file, which only its owner may read, for the lines of a recording: gzip blocks of the lines of half a second each, made and
 * written by threads of Node.js. A kill loses the newest of them, and what is before can be read.
 *
 * Errors: throws when there can be no such file. A full disk, or one that is too slow for what is to be written, ends the
 * recording with a warning in the log.
 */
export const createRecordingFile = (options: RecordingFileOptions): RecordingFile => {
  const { lastLine, maxBytes, log, maxWaiting = 64 * 1024 * 1024 } = options;
  const { path, descriptor } = openNext(options.path);
  let waiting: string[] = [];
  let waitingLength = 0;
  /** What is being written, and where it begins. */
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

  /** Ends the recording; the line that says so is the last to be written. */
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
    // What is there ends with a whole block, and the disk has room for the little that says why.
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
        // Nothing more can be said to a disk that does not take the last line either.
        if (isLast) waiting = [];
      }
      block = undefined;
    }
  };

  const flush = (): void => {
    if (!block && waiting.length > 0) written = writeWaiting();
  };

  /** The same at once, when the process ends: a block that is on its way is written again, to where it belongs. */
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
      // The process ends, and nobody is left to hear of it.
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
      // The header goes at once: with it the file is a recording.
      if (waitingLength >= FLUSH_AT_LENGTH || size === 0) flush();
      else timer ??= setTimeout(flush, FLUSH_AFTER_MS).unref();
    },
    isOpen: () => isOpen,
    close: async () => {
      isOpen = false;
      // Lines may have come while a block was on its way.
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

/** The first of `name.ext`, `name-2.ext` ... that is not there yet. */
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
  throw new Error(`there are ${MOST_FILES - 1} recordings called ${wanted} already`);
};
