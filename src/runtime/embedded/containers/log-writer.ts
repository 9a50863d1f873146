import { dirname, join } from 'node:path';
import type { Logger } from '../../../streams/ports/logger.js';
import { delayMs, wallClockNs } from '../machine/clock.js';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  isGone,
  makeDirectories,
  openSync,
  readIfThere,
  readSync,
  readdirSync,
  startProcess,
  statSync,
  writeSync,
} from '../machine/machine.js';
import { RETRY_MS } from '../machine/retry.js';

const MAX_CONTENT_BYTES = 16 * 1024;
const BATCH_BYTES = 256 * 1024;
const PUNCH_STEP_BYTES = 8 * 1024 * 1024;
/** The number of attempts to write the last lines; after these the container ends without them. */
const FINISH_TRIES = 30;
const NEWLINE = 10;
const STREAMS = ['stdout', 'stderr'] as const;

/** Shared by all writers: a batch is read, converted and written synchronously. */
const buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);

/** A Unix time in ns as RFC 3339 with nine digits of a second. */
export const rfc3339Nano = (ns: bigint): string =>
  `${new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19)}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`;

/**
 * CRI log lines for the raw bytes, and the number of bytes they cover. Content beyond 16 KiB continues in a further
 * line; all but the last are tagged P, the last F. An incomplete line waits for more, and becomes a P line at the end.
 */
export const criLines = (
  raw: Buffer,
  prefix: string,
  atEnd: boolean,
): { readonly lines: readonly Buffer[]; readonly consumed: number } => {
  const [full, partial] = [Buffer.from(`${prefix} F `), Buffer.from(`${prefix} P `)];
  const newline = Buffer.from('\n');
  const lines: Buffer[] = [];
  let consumed = 0;
  while (consumed < raw.length) {
    const end = raw.indexOf(NEWLINE, consumed);
    const length = (end === -1 ? raw.length : end) - consumed;
    if (length > MAX_CONTENT_BYTES || (end === -1 && length === MAX_CONTENT_BYTES)) {
      lines.push(partial, raw.subarray(consumed, consumed + MAX_CONTENT_BYTES), newline);
      consumed += MAX_CONTENT_BYTES;
    } else if (end !== -1) {
      lines.push(full, raw.subarray(consumed, end + 1));
      consumed = end + 1;
    } else if (atEnd) {
      lines.push(partial, raw.subarray(consumed), newline);
      consumed = raw.length;
    } else break;
  }
  return { lines, consumed };
};

interface Checkpoint {
  readonly stdout: number;
  readonly stderr: number;
  readonly inode: string;
  readonly size: number;
}

/**
 * Converts a container's raw output into its CRI log file, each byte once. After every batch it saves a checkpoint;
 * after a crash it truncates the log to the checkpoint and converts the rest again. It does nothing between calls of
 * `poke`.
 */
export class LogWriter {
  private readonly offsets = { stdout: 0, stderr: 0 };
  private readonly punched = { stdout: 0, stderr: 0 };
  /** The positions of other readers of the raw files. */
  private readonly readers = { stdout: new Set<() => number>(), stderr: new Set<() => number>() };
  private isOpen = false;
  /** Whether part of a batch may stand behind `logSize`. */
  private isTorn = false;
  private logFile: number | undefined;
  private logSize = 0;
  private logInode = '0';
  private checkpointFile: number | undefined;
  private readonly rawFiles: { stdout?: number; stderr?: number } = {};
  private pumping: Promise<void> | undefined;
  private again = false;
  private retry: NodeJS.Timeout | undefined;
  private closed = false;

  constructor(
    private readonly options: {
      /** The directory of the raw files `stdout` and `stderr`. */
      readonly rawDirectory: string;
      readonly checkpointPath: string;
      /** Undefined for a container without a log; its output is read and dropped. */
      readonly logPath: string | undefined;
      readonly fallocate: string | undefined;
      readonly log: Logger;
    },
  ) {}

  /**
   * Creates the log file, or continues after the last checkpoint. Errors: none; every later write retries a failed
   * open.
   */
  open(): void {
    if (this.isOpen) return;
    try {
      const before = this.readCheckpoint();
      if (before) {
        this.offsets.stdout = before.stdout;
        this.offsets.stderr = before.stderr;
        this.cutBack(before);
      }
      closeSync(openSync(this.options.checkpointPath, 'a', 0o600));
      this.checkpointFile = openSync(this.options.checkpointPath, 'r+');
      this.openLog();
      this.writeCheckpoint();
      this.isOpen = true;
    } catch (error) {
      this.closeFiles();
      throw error;
    }
  }

  /** Keeps the raw output from the position on, which may advance, until the returned function is called. */
  keepFrom(stream: (typeof STREAMS)[number], offset: () => number): () => void {
    this.readers[stream].add(offset);
    return () => void this.readers[stream].delete(offset);
  }

  /** Checks for new output. */
  poke(): void {
    if (this.closed) return;
    this.again = true;
    this.pumping ??= this.pump().finally(() => (this.pumping = undefined));
  }

  /** Checks for new output; resolves when all complete lines up to now are converted. */
  async settled(): Promise<void> {
    this.poke();
    await this.pumping;
  }

  /** Continues in a new file at the log path; the renamed file keeps the earlier lines. */
  reopen(): void {
    this.open();
    this.mend();
    if (this.logFile !== undefined) closeSync(this.logFile);
    this.logFile = undefined;
    this.openLog();
    this.writeCheckpoint();
  }

  /**
   * Converts the remaining output, also the incomplete last lines, and closes. Call it when no process writes any more.
   */
  async finish(): Promise<void> {
    await this.settled();
    for (let tries = 1; !this.closed; tries += 1) {
      try {
        while (this.batch(true));
        break;
      } catch (error) {
        const fields = { path: this.options.logPath, error: String(error) };
        if (tries === 1) this.options.log.warn(fields, 'the end of a container log could not be written, will retry');
        if (tries === FINISH_TRIES) {
          this.options.log.error(fields, 'container log could not be completed');
          break;
        }
        await delayMs(RETRY_MS);
      }
    }
    this.close();
  }

  /** Closes without converting more; a later writer continues. */
  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
    this.closeFiles();
  }

  private closeFiles(): void {
    for (const file of [this.logFile, this.checkpointFile, this.rawFiles.stdout, this.rawFiles.stderr])
      if (file !== undefined) closeSync(file);
    this.logFile = this.checkpointFile = this.rawFiles.stdout = this.rawFiles.stderr = undefined;
  }

  private async pump(): Promise<void> {
    try {
      while (this.again && !this.closed) {
        this.again = false;
        while (!this.closed && this.batch(false)) await new Promise((resolve) => setImmediate(resolve));
      }
    } catch (error) {
      this.options.log.warn(
        { path: this.options.logPath, error: String(error) },
        'container log write failed, will retry',
      );
      this.retry ??= setTimeout(() => {
        this.retry = undefined;
        this.poke();
      }, RETRY_MS).unref();
    }
  }

  /** Converts one batch of each stream; returns false if there was no output. */
  private batch(atEnd: boolean): boolean {
    this.open();
    let progressed = false;
    for (const stream of STREAMS) {
      const file = this.rawFile(stream);
      if (file === undefined) continue;
      const read = readSync(file, buffer, 0, BATCH_BYTES, this.offsets[stream]);
      if (read === 0) continue;
      const prefix = `${rfc3339Nano(wallClockNs())} ${stream}`;
      const { lines, consumed } = criLines(buffer.subarray(0, read), prefix, atEnd && read < BATCH_BYTES);
      if (consumed === 0) continue;
      this.append(Buffer.concat(lines));
      this.offsets[stream] += consumed;
      this.writeCheckpoint();
      this.punch(stream);
      progressed = true;
    }
    return progressed;
  }

  /** Undefined for a container that never had output. */
  private rawFile(stream: (typeof STREAMS)[number]): number | undefined {
    try {
      return (this.rawFiles[stream] ??= openSync(join(this.options.rawDirectory, stream), 'r'));
    } catch (error) {
      if (isGone(error)) return undefined;
      throw error;
    }
  }

  private append(bytes: Buffer): void {
    const file = this.logFile ?? this.openLog();
    if (file === undefined) return;
    this.mend();
    this.isTorn = true;
    try {
      for (let written = 0; written < bytes.length;) written += writeSync(file, bytes.subarray(written));
      this.logSize += bytes.length;
      this.isTorn = false;
    } catch (error) {
      this.mend();
      throw error;
    }
  }

  /** Removes part of a batch that a full disk may have left; the batch is converted again as a whole. */
  private mend(): void {
    if (!this.isTorn || this.logFile === undefined) return;
    ftruncateSync(this.logFile, this.logSize);
    this.isTorn = false;
  }

  /** Frees the disk space of converted output. */
  private punch(stream: (typeof STREAMS)[number]): void {
    const read = Math.min(this.offsets[stream], ...[...this.readers[stream]].map((offset) => offset()));
    const end = Math.floor(read / PUNCH_STEP_BYTES) * PUNCH_STEP_BYTES;
    const start = this.punched[stream];
    if (end <= start || !this.options.fallocate) return;
    this.punched[stream] = end;
    const path = join(this.options.rawDirectory, stream);
    const args = ['--punch-hole', '-o', String(start), '-l', String(end - start), path];
    startProcess(this.options.fallocate, args, { stdio: 'ignore' }).catch(() => undefined);
  }

  private openLog(): number | undefined {
    const { logPath } = this.options;
    if (logPath === undefined) return undefined;
    makeDirectories(dirname(logPath), 0o755);
    const file = openSync(logPath, 'a', 0o640);
    try {
      const { size, ino } = fstatSync(file, { bigint: true });
      this.logSize = Number(size);
      this.logInode = String(ino);
    } catch (error) {
      closeSync(file);
      throw error;
    }
    this.isTorn = false;
    return (this.logFile = file);
  }

  /**
   * Removes the lines after the checkpoint from the log. The file may have been renamed meanwhile, so it is found by
   * its inode. Errors: it could not be truncated, and continuing would write these lines twice.
   */
  private cutBack({ inode, size }: Checkpoint): void {
    const { logPath } = this.options;
    if (logPath === undefined) return;
    const directory = dirname(logPath);
    const found = [logPath, ...namesIn(directory).map((name) => join(directory, name))].find(
      (path) => statIfThere(path)?.inode === inode,
    );
    if (found === undefined || (statIfThere(found)?.size ?? 0) <= size) return;
    const file = openSync(found, 'r+');
    try {
      ftruncateSync(file, size);
    } finally {
      closeSync(file);
    }
  }

  /**
   * Undefined without a checkpoint. Errors: it cannot be read, and starting from the beginning would write all lines
   * twice.
   */
  private readCheckpoint(): Checkpoint | undefined {
    const [stdout, stderr, inode = '', size] = (readIfThere(this.options.checkpointPath) ?? '').trim().split(' ');
    if (size === undefined) return undefined;
    return { stdout: Number(stdout), stderr: Number(stderr), inode, size: Number(size) };
  }

  /** One small write at a fixed offset, which a kill cannot split. */
  private writeCheckpoint(): void {
    if (this.checkpointFile === undefined) return;
    const { stdout, stderr } = this.offsets;
    writeSync(this.checkpointFile, `${stdout} ${stderr} ${this.logInode} ${this.logSize}`.padEnd(127) + '\n', 0);
  }
}

const statIfThere = (path: string): { readonly inode: string; readonly size: number } | undefined => {
  try {
    const { ino, size } = statSync(path, { bigint: true });
    return { inode: String(ino), size: Number(size) };
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
};

const namesIn = (directory: string): readonly string[] => {
  try {
    return readdirSync(directory);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
};
