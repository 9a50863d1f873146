import { Duplex } from 'node:stream';
import type { SpdyHeaders } from './spdy-headers.js';

/** The side of a stream that its connection has to serve. */
export interface StreamLink {
  /** Sends a part; calls back when the socket has taken it. */
  readonly send: (data: Buffer, done: (error?: Error | null) => void) => void;
  readonly finish: (done: (error?: Error | null) => void) => void;
  /** The reader has room again. */
  readonly resume: () => void;
  /** The stream is over; `isReset` if the peer has to be notified. */
  readonly close: (isReset: boolean) => void;
}

/** One stream of a connection: its end is the half-close of a side, its destruction a reset. */
export class SpdyStream extends Duplex {
  private isPeerDone = false;
  private isDone = false;
  private wasReset = false;

  constructor(
    readonly id: number,
    readonly headers: SpdyHeaders,
    private readonly link: StreamLink,
  ) {
    super({ allowHalfOpen: true });
  }

  /** Takes data of the peer. Returns false if the reader has no more room. */
  receive(data: Buffer, isLast: boolean): boolean {
    if (this.destroyed || this.isPeerDone) return true;
    const hasRoom = data.length === 0 || this.push(data);
    if (isLast) {
      this.isPeerDone = true;
      this.push(null);
    }
    return hasRoom;
  }

  /** The peer, or the end of the connection, ended the stream. */
  cut(): void {
    this.wasReset = true;
    this.destroy();
  }

  /** The same behind the data that has arrived, which stays to be read; nothing more is sent. */
  cutBehindData(): void {
    this.wasReset = true;
    this.receive(Buffer.alloc(0), true);
    this.end();
  }

  override _read(): void {
    this.link.resume();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    if (this.wasReset) done();
    else this.link.send(data, done);
  }

  override _final(done: (error?: Error | null) => void): void {
    this.isDone = true;
    if (this.wasReset) done();
    else this.link.finish(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.link.close(!this.wasReset && !(this.isDone && this.isPeerDone));
    done(error);
  }
}
