import type { Socket } from 'node:net';
import { fromEvent, map, merge, type Observable } from 'rxjs';
import { closeSync } from '../../machine/machine.js';
import type { ExecFiles } from './exec-script.js';
import { holdFifo, readFifo, writeFifo } from '../../machine/fifo.js';
import type { RemoteStreams } from '../remote-streams.js';

/** The part of a command's complaints that an error repeats. */
const SAID_MAX_BYTES = 1_024;

export type ExecIo = Pick<RemoteStreams, 'stdin' | 'stdout' | 'stderr' | 'size$' | 'gone'>;

/** This process' ends of the named pipes of a command, joined with the streams of a client. */
export class ExecEnds {
  /** Keeps the input open until the command has opened it. */
  private held: number | undefined;
  private readonly stdin: Socket | undefined;
  private readonly outputs: readonly Socket[];
  private said = Buffer.alloc(0);
  /** Resolves when no process holds the output open any more. */
  readonly closed: Promise<unknown>;
  /** Emits for each piece of output. */
  readonly output$: Observable<void>;

  /** Errors: the pipes cannot be opened. */
  constructor(
    files: ExecFiles,
    private readonly io: ExecIo,
    /** Without input a pipe ends at once, but a terminal stays silent. */
    private readonly tty: boolean,
  ) {
    const opened: Socket[] = [];
    const open = (end: Socket): Socket => {
      opened.push(end);
      // Its close follows.
      return end.on('error', () => undefined);
    };
    try {
      this.held = holdFifo(files.stdin);
      if (io.stdin ?? tty) this.stdin = open(writeFifo(files.stdin));
      const [stdout, stderr] = [open(readFifo(files.stdout)), open(readFifo(files.stderr))];
      this.outputs = [stdout, stderr];
      join(stdout, io.stdout);
      join(stderr, io.stderr);
      stderr.on('data', (chunk: Buffer) => {
        if (this.said.length < SAID_MAX_BYTES)
          this.said = Buffer.concat([this.said, chunk]).subarray(0, SAID_MAX_BYTES);
      });
      this.closed = Promise.all(
        this.outputs.map((end) => new Promise<void>((done) => end.once('close', () => done()))),
      );
      this.output$ = merge(...this.outputs.map((end) => fromEvent(end, 'data'))).pipe(map(() => undefined));
    } catch (error) {
      for (const end of opened) end.destroy();
      this.release();
      throw error;
    }
  }

  /** Whether output waits for the client. */
  get isBlocked(): boolean {
    return [this.io.stdout, this.io.stderr].some((stream) => stream?.writableNeedDrain === true);
  }

  /** The first complaints on the error output. */
  get complaints(): string {
    return this.said.toString('utf8').trim();
  }

  /** The command has opened its input: from now on it alone reads it. */
  begin(): void {
    this.release();
    const { stdin, io } = this;
    if (!stdin || !io.stdin) return;
    io.stdin.pipe(stdin);
    // A client that resets the stream, without an end.
    io.stdin.once('close', () => stdin.end());
    // A command that does not read, or not any more.
    stdin.once('close', () => {
      io.stdin?.unpipe(stdin);
      io.stdin?.resume();
    });
  }

  close(): void {
    this.release();
    this.stdin?.destroy();
    for (const end of this.outputs) end.destroy();
    this.io.stdin?.resume();
  }

  private release(): void {
    if (this.held !== undefined) closeSync(this.held);
    this.held = undefined;
  }
}

/** Output without a reader is dropped, so that the command goes on. */
const join = (end: Socket, target: NodeJS.WritableStream | undefined): void => {
  if (!target) return void end.resume();
  end.pipe(target, { end: false });
  target.once('close', () => {
    end.unpipe(target);
    end.resume();
  });
};
