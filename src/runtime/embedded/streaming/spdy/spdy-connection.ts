import type { Duplex } from 'node:stream';
import { SpdyError } from './spdy-error.js';
import { DATA_MAX_BYTES, dataHead, FrameDecoder, FrameEncoder, type SpdyFrame } from './spdy-frames.js';
import type { SpdyHeaders } from './spdy-headers.js';
import { SpdyStream } from './spdy-stream.js';

/** Source: SPDY/3.1, 2.6.3 "RST_STREAM" and 2.6.6 "GOAWAY". */
const REFUSED = 3;
const CANCEL = 5;
const GO_AWAY_OK = 0;
const GO_AWAY_PROTOCOL_ERROR = 1;

export interface SpdyConnectionOptions {
  /** The side of this process: a client opens streams with odd numbers, a server with even ones. */
  readonly side: 'client' | 'server';
  /** Called for a stream that the peer opens; false refuses it. */
  readonly accept: (stream: SpdyStream) => boolean;
  /** The limit of streams that are open at the same time; further ones are refused. */
  readonly streamsMax: number;
  /**
   * The data of a stream that has arrived, when the peer resets it or the connection ends. A server written in Go resets the streams
   * right behind its last data, which a slow reader still has to get. Default: `drop`.
   */
  readonly arrivedData?: 'drop' | 'keep';
  /** Called for every piece that arrives. */
  readonly onActivity?: () => void;
}

/**
 * The streams of one socket. The socket is not read while a reader of any stream has no room, and a stream accepts no
 * more data while the socket does not: windows are neither sent nor obeyed, as in the peer of Kubernetes.
 * Source: github.com/moby/spdystream connection.go
 */
export class SpdyConnection {
  private readonly encoder = new FrameEncoder();
  private readonly decoder = new FrameDecoder();
  private readonly streams = new Map<number, SpdyStream>();
  /** The streams whose readers have no room. */
  private readonly full = new Set<SpdyStream>();
  private readonly over = new AbortController();
  private nextId: number;
  private lastPeerId = 0;
  private isEnding = false;

  constructor(
    private readonly socket: Duplex,
    private readonly options: SpdyConnectionOptions,
  ) {
    this.nextId = options.side === 'client' ? 1 : 2;
    socket.on('data', (piece: Buffer) => this.receive(piece));
    socket.once('end', () => this.destroy());
    socket.once('close', () => this.destroy());
    // Its close follows.
    socket.on('error', () => undefined);
  }

  /** Fires when the connection is over, for any reason. */
  get gone(): AbortSignal {
    return this.over.signal;
  }

  /** Whether the socket is not read at the moment, so that its end would not be noticed. */
  get isPaused(): boolean {
    return this.full.size > 0;
  }

  open(headers: SpdyHeaders): SpdyStream {
    const stream = this.stream(this.nextId, headers);
    this.nextId += 2;
    this.write({ kind: 'open', streamId: stream.id, headers, isLast: false });
    return stream;
  }

  /** A peer that has gone without a word is noticed by a write. */
  ping(): void {
    this.write({ kind: 'ping', id: this.nextId });
  }

  /** Announces the end and half-closes the socket behind all that was written. Further input is dropped. */
  end(): void {
    if (this.isEnding) return;
    this.isEnding = true;
    this.write({ kind: 'goAway', lastStreamId: this.lastPeerId, status: GO_AWAY_OK });
    this.full.clear();
    this.socket.end();
    this.socket.resume();
  }

  /** Ends the socket and all streams at once. */
  destroy(): void {
    if (this.over.signal.aborted) return;
    this.socket.destroy();
    this.over.abort();
    for (const stream of this.streams.values()) this.cut(stream);
    this.streams.clear();
    this.full.clear();
  }

  private receive(piece: Buffer): void {
    this.options.onActivity?.();
    if (this.isEnding) return;
    try {
      for (const frame of this.decoder.decode(piece)) {
        this.handle(frame);
        if (this.isEnding || this.gone.aborted) return;
      }
    } catch (error) {
      if (!(error instanceof SpdyError)) throw error;
      this.write({ kind: 'goAway', lastStreamId: this.lastPeerId, status: GO_AWAY_PROTOCOL_ERROR });
      this.isEnding = true;
      this.socket.end(() => this.destroy());
    }
  }

  private handle(frame: SpdyFrame): void {
    switch (frame.kind) {
      case 'open':
        return this.opened(frame.streamId, frame.headers, frame.isLast);
      case 'data':
        // Data of a stream that is over may still be under way.
        return this.deliver(this.streams.get(frame.streamId), frame.data, frame.isLast);
      case 'reply':
      case 'headers':
        return this.deliver(this.streams.get(frame.streamId), Buffer.alloc(0), frame.isLast);
      case 'reset':
        return this.cut(this.streams.get(frame.streamId));
      case 'ping':
        // The number says which side began.
        if (frame.id % 2 !== this.nextId % 2) this.write(frame);
        return;
      case 'goAway':
      case 'other':
        return;
    }
  }

  private opened(streamId: number, headers: SpdyHeaders, isLast: boolean): void {
    if (streamId % 2 === this.nextId % 2 || streamId <= this.lastPeerId)
      throw new SpdyError(`a stream with the number ${streamId} after ${this.lastPeerId}`);
    this.lastPeerId = streamId;
    if (this.streams.size >= this.options.streamsMax) return this.write({ kind: 'reset', streamId, status: REFUSED });
    const stream = this.stream(streamId, headers);
    // Before any data that the acceptance may write.
    this.write({ kind: 'reply', streamId, headers: new Map(), isLast: false });
    if (!this.options.accept(stream)) return void stream.destroy();
    this.deliver(stream, Buffer.alloc(0), isLast);
  }

  private deliver(stream: SpdyStream | undefined, data: Buffer, isLast: boolean): void {
    if (!stream || stream.receive(data, isLast)) return;
    this.full.add(stream);
    this.socket.pause();
  }

  private cut(stream: SpdyStream | undefined): void {
    if (this.options.arrivedData === 'keep') stream?.cutBehindData();
    else stream?.cut();
  }

  private readOn(stream: SpdyStream): void {
    if (this.full.delete(stream) && this.full.size === 0) this.socket.resume();
  }

  private stream(streamId: number, headers: SpdyHeaders): SpdyStream {
    const stream: SpdyStream = new SpdyStream(streamId, headers, {
      send: (data, done) => this.sendData(streamId, data, done),
      finish: (done) => {
        if (this.socket.writable) this.socket.write(dataHead(streamId, 0, true), () => done());
        else done();
      },
      resume: () => this.readOn(stream),
      close: (isReset) => {
        this.streams.delete(streamId);
        this.readOn(stream);
        if (isReset) this.write({ kind: 'reset', streamId, status: CANCEL });
      },
    });
    // A stream that is over has no error of its own.
    stream.on('error', () => undefined);
    this.streams.set(streamId, stream);
    return stream;
  }

  private sendData(streamId: number, data: Buffer, done: (error?: Error | null) => void): void {
    if (!this.socket.writable) return done();
    if (data.length > DATA_MAX_BYTES)
      return this.sendData(streamId, data.subarray(0, DATA_MAX_BYTES), (error) =>
        error ? done(error) : this.sendData(streamId, data.subarray(DATA_MAX_BYTES), done),
      );
    this.socket.cork();
    this.socket.write(dataHead(streamId, data.length, false));
    this.socket.write(data, (error) => done(error));
    this.socket.uncork();
  }

  private write(frame: Exclude<SpdyFrame, { kind: 'other' }>): void {
    if (this.socket.writable) this.socket.write(this.encoder.encode(frame));
  }
}
