import { Socket } from 'node:net';

type Done = (error?: Error | null) => void;

/**
 * A connection that a failed write does not close: it emits all bytes that it has received before it closes. A peer that sends
 * its last bytes and closes while this side still writes breaks the connection, and Node would drop those bytes with it. A write
 * that fails is dropped.
 */
export class ReadingSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    super._write(chunk, encoding, () => done());
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    super._writev?.(chunks, () => done());
  }
}
