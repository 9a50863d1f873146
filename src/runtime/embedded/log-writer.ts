import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  statSync,
  writeSync,
} from 'node:fs';
import { spawn } from 'node:child_process';
import { dirname, join } from 'node:path';
import type { Logger } from '../../streams/ports.js';
import { wallClockNs } from './clock.js';

const MAX_CONTENT_BYTES = 16 * 1024;
const BATCH_BYTES = 256 * 1024;
const PUNCH_STEP_BYTES = 8 * 1024 * 1024;
const RETRY_MS = 5_000;
const NEWLINE = 10;
const STREAMS = ['stdout', 'stderr'] as const;

/** Shared by all writers: a batch is read, converted and written without giving up the event loop. */
const buffer = Buffer.allocUnsafeSlow(BATCH_BYTES);

/** A Unix time in ns as RFC 3339 with nine digits of a second. */
export const rfc3339Nano = (ns: bigint): string =>
  `${new Date(Number(ns / 1_000_000n)).toISOString().slice(0, 19)}.${String(ns % 1_000_000_000n).padStart(9, '0')}Z`;

/**
 * CRI log lines for the raw bytes, and how many of the bytes they cover. Content beyond 16 KiB goes on in a further line,
 * tagged P until the last one, F. A tail without its newline waits for more, and at the end becomes a P line.
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
 * Turns a container's raw output into its CRI log file, each byte once. After every batch it notes how far it came; after a crash it
 * cuts the log back to that note and converts the rest again. Nothing happens between calls of `poke`.
 */
export class LogWriter {
  private readonly offsets = { stdout: 0, stderr: 0 };
  private readonly punched = { stdout: 0, stderr: 0 };
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
      /** Holds the raw files `stdout` and `stderr`. */
      readonly rawDirectory: string;
      readonly checkpointPath: string;
      /** Undefined when the container asked for no log; its output is then consumed and dropped. */
      readonly logPath: string | undefined;
      readonly fallocate: string | undefined;
      readonly log: Logger;
    },
  ) {}

  /** Makes the log file, or goes on where the last writer stopped. */
  open(): void {
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
  }

  /** There may be new output. */
  poke(): void {
    if (this.closed) return;
    this.again = true;
    this.pumping ??= this.pump().finally(() => (this.pumping = undefined));
  }

  /** Looks for new output; resolves when all that is complete so far has been converted. */
  async settled(): Promise<void> {
    this.poke();
    await this.pumping;
  }

  /** Goes on in a new file at the log path; what was written so far stays where it was renamed to. */
  reopen(): void {
    if (this.logFile !== undefined) closeSync(this.logFile);
    this.logFile = undefined;
    this.openLog();
    this.writeCheckpoint();
  }

  /** Converts all that is left, the unfinished last lines too, and closes. Call it when nobody writes any more. */
  async finish(): Promise<void> {
    await this.settled();
    try {
      while (this.batch(true));
    } catch (error) {
      this.options.log.error(
        { path: this.options.logPath, error: String(error) },
        'container log could not be completed',
      );
    }
    this.close();
  }

  /** Stops where it is; a later writer goes on from there. */
  close(): void {
    this.closed = true;
    clearTimeout(this.retry);
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

  /** Converts one batch of each stream; false when there was nothing to do. */
  private batch(atEnd: boolean): boolean {
    let progressed = false;
    for (const stream of STREAMS) {
      const file = (this.rawFiles[stream] ??= openSync(join(this.options.rawDirectory, stream), 'r'));
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

  private append(bytes: Buffer): void {
    const file = this.logFile ?? this.openLog();
    if (file === undefined) return;
    let written = 0;
    try {
      while (written < bytes.length) written += writeSync(file, bytes, written);
      this.logSize += bytes.length;
    } catch (error) {
      // Half a batch may stand there (a full disk); it is converted again as a whole.
      ftruncateSync(file, this.logSize);
      throw error;
    }
  }

  /** Gives the disk space of converted output back. */
  private punch(stream: (typeof STREAMS)[number]): void {
    const end = Math.floor(this.offsets[stream] / PUNCH_STEP_BYTES) * PUNCH_STEP_BYTES;
    const start = this.punched[stream];
    if (end === start || !this.options.fallocate) return;
    this.punched[stream] = end;
    const path = join(this.options.rawDirectory, stream);
    spawn(this.options.fallocate, ['--punch-hole', '-o', String(start), '-l', String(end - start), path], {
      stdio: 'ignore',
    }).on('error', () => undefined);
  }

  private openLog(): number | undefined {
    const { logPath } = this.options;
    if (logPath === undefined) return undefined;
    mkdirSync(dirname(logPath), { recursive: true, mode: 0o755 });
    this.logFile = openSync(logPath, 'a', 0o640);
    const { size, ino } = fstatSync(this.logFile, { bigint: true });
    this.logSize = Number(size);
    this.logInode = String(ino);
    return this.logFile;
  }

  /** Removes from the log what was written after the note. The file may have been renamed meanwhile, so its inode counts. */
  private cutBack({ inode, size }: Checkpoint): void {
    const { logPath } = this.options;
    if (logPath === undefined) return;
    try {
      const directory = dirname(logPath);
      const found = [logPath, ...readdirSync(directory).map((name) => join(directory, name))].find((path) => {
        try {
          return String(statSync(path, { bigint: true }).ino) === inode;
        } catch {
          return false;
        }
      });
      if (found === undefined || statSync(found).size <= size) return;
      const file = openSync(found, 'r+');
      ftruncateSync(file, size);
      closeSync(file);
    } catch (error) {
      this.options.log.warn(
        { path: logPath, error: String(error) },
        'container log could not be cut back to its checkpoint',
      );
    }
  }

  private readCheckpoint(): Checkpoint | undefined {
    try {
      const [stdout, stderr, inode = '', size] = readFileSync(this.options.checkpointPath, 'utf8').trim().split(' ');
      if (size === undefined) return undefined;
      return { stdout: Number(stdout), stderr: Number(stderr), inode, size: Number(size) };
    } catch {
      return undefined;
    }
  }

  /** One small write at a fixed place, which a kill cannot split. */
  private writeCheckpoint(): void {
    if (this.checkpointFile === undefined) return;
    const { stdout, stderr } = this.offsets;
    writeSync(this.checkpointFile, `${stdout} ${stderr} ${this.logInode} ${this.logSize}`.padEnd(127) + '\n', 0);
  }
}
