import type { Socket } from 'node:net';
import { join } from 'node:path';
import { isGone, isThere, readIfThere, writeFileSync } from '../machine/machine.js';
import { isAlive, parseStat, signalProcess, type ProcessId } from '../confinement/process-tree.js';
import { shellQuote } from '../machine/shell-quote.js';
import { writeFifo } from '../machine/fifo.js';

const inputFiles = (ioDirectory: string) => ({
  /** The holder's line of /proc/<pid>/stat. */
  holder: join(ioDirectory, 'input'),
  /** A named pipe whose only writer is the supervisor; the holder ends with it. */
  lifeline: join(ioDirectory, 'input.life'),
  /** Exists once a client has attached to the input. */
  taken: join(ioDirectory, 'input.taken'),
});

/**
 * The shell lines of the supervisor around the payload of a container with an input. `before` starts the holder: a
 * cat(1) in the supervisor's session whose output is the writing end of a pipe without a name. It writes nothing, but
 * the pipe stays open with it. It reads the lifeline, so that it ends with the supervisor, also with a killed one.
 * `from` is the reading end, for the payload alone. `after` ends the holder.
 *
 * The pipe has no name, since a program that opens /dev/stdin would wait for a writer of a named one. The supervisor waits
 * in its open of the lifeline until the holder has opened all its own files.
 */
export const inputLines = (
  ioDirectory: string,
  tools: { readonly mkfifo: string; readonly cat: string },
): { readonly before: string; readonly from: string; readonly payloadCloses: string; readonly after: string } => {
  const files = inputFiles(ioDirectory);
  const [holder, lifeline] = [shellQuote(files.holder), shellQuote(files.lifeline)];
  return {
    before: `
${tools.mkfifo} -m 600 ${lifeline}
: | { { exec ${tools.cat} < ${lifeline}; } > /proc/self/fd/0 3>&- || : < ${lifeline}; } &
exec 7> ${lifeline}
{ read -r line < /proc/$!/stat; } 2>/dev/null && printf '%s\\n' "$line" > ${holder}`,
    from: '"/proc/$!/fd/1"',
    payloadCloses: '7>&-',
    after: 'exec 7>&-',
  };
};

/** The input of one run of a container, from any runtime: the files of the run have all that is known about it. */
export class ContainerInput {
  private readonly writers = new Set<Socket>();
  private readonly files;

  constructor(
    ioDirectory: string,
    /** Whether the input ends with the first client that attaches to it. */
    private readonly endsWithClient: boolean,
  ) {
    this.files = inputFiles(ioDirectory);
  }

  /**
   * A new writing end, which the client closes or `close` destroys; undefined if the input is closed. It costs one
   * descriptor. Errors: it cannot be opened.
   */
  open(): Socket | undefined {
    const holder = this.holder();
    if (!holder) return undefined;
    if (this.endsWithClient) writeFileSync(this.files.taken, '', { mode: 0o600 });
    const writer = writerTo(holder);
    if (!writer) return undefined;
    this.writers.add(writer);
    writer.once('close', () => this.writers.delete(writer));
    // Its close follows.
    return writer.on('error', () => undefined);
  }

  /** Ends the input behind all that was written to it. Errors: the machine cannot report whether it is open. */
  close(): void {
    for (const writer of this.writers) writer.destroy();
    const holder = this.holder();
    if (holder) signalProcess(holder, 'SIGKILL');
  }

  /** Closes an input whose client has gone with an earlier runtime. Errors: as above. */
  closeIfTaken(): void {
    if (this.endsWithClient && isThere(this.files.taken)) this.close();
  }

  /** Destroys all writing ends; the input stays open. */
  release(): void {
    for (const writer of this.writers) writer.destroy();
  }

  private holder(): ProcessId | undefined {
    const holder = parseStat(readIfThere(this.files.holder) ?? '');
    return holder && isAlive(holder) ? holder : undefined;
  }
}

/** The output of exactly this process; undefined if the process has ended, or no process reads its output. */
const writerTo = (holder: ProcessId): Socket | undefined => {
  let writer: Socket;
  try {
    writer = writeFifo(`/proc/${holder.pid}/fd/1`);
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
  // The number may have been that of another process meanwhile.
  if (isAlive(holder)) return writer;
  writer.destroy();
  return undefined;
};
