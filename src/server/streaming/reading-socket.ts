import { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

/**
 * A connection that a failed write does not close: it emits all bytes that have been received before it is closed. A peer that
 * sends its last bytes and closes while this side still writes breaks the connection, and Node would drop those bytes with it.
 * What is written after the failure is dropped.
 */
export class ReadingSocket extends Socket {
  #isBroken = false;

  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    this.#tryWrite((written) => super._write(chunk, encoding, written), done);
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    this.#tryWrite((written) => super._writev?.(chunks, written), done);
  }

  #tryWrite(write: (written: Done) => void, done: Done): void {
    if (this.#isBroken) return done();
    write((error) => {
      this.#isBroken = !!error;
      done();
    });
  }
}
