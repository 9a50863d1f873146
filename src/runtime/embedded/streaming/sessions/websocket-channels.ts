import { Duplex } from 'node:stream';
import type { WebSocket } from 'ws';

/** A message is a channel's number and content; base64 variants use a digit and text. */
export interface ChannelFraming {
  readonly base64: boolean;
  /** Whether the client half-closes a channel with a message on channel 255. */
  readonly halfClose: boolean;
}

const CLOSE_CHANNEL = 255;

/**
 * The channels of one WebSocket. Like `SpdyConnection` it reads nothing while a reader of any channel has no room.
 * Source: k8s.io/apimachinery/pkg/util/httpstream/wsstream/conn.go
 */
export class WebSocketChannels {
  private readonly channels = new Map<number, Channel>();
  private readonly full = new Set<Channel>();
  private readonly over = new AbortController();

  constructor(
    private readonly socket: WebSocket,
    private readonly framing: ChannelFraming,
    onActivity: () => void,
  ) {
    socket.on('message', (data: Buffer) => {
      onActivity();
      this.receive(data);
    });
    socket.on('pong', onActivity);
    // Its close follows.
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.over.abort();
      for (const channel of this.channels.values()) channel.destroy();
      this.full.clear();
    });
  }

  get gone(): AbortSignal {
    return this.over.signal;
  }

  get isPaused(): boolean {
    return this.full.size > 0;
  }

  open(number: number): Duplex {
    const channel: Channel = new Channel(
      (data, done) => this.send(number, data, done),
      () => {
        if (this.full.delete(channel) && this.full.size === 0) this.socket.resume();
      },
    );
    channel.on('error', () => undefined);
    this.channels.set(number, channel);
    return channel;
  }

  ping(): void {
    if (this.socket.readyState === this.socket.OPEN) this.socket.ping();
  }

  /** Closes behind all that was written. */
  end(): void {
    for (const channel of this.channels.values()) channel.resume();
    this.socket.close(1000);
  }

  destroy(): void {
    this.socket.terminate();
  }

  private receive(message: Buffer): void {
    const number = message[0];
    if (number === undefined) return;
    const { base64, halfClose } = this.framing;
    if (halfClose && number === CLOSE_CHANNEL) return this.channels.get(message[1] ?? CLOSE_CHANNEL)?.finish();
    const channel = this.channels.get(base64 ? number - 0x30 : number);
    const content = message.subarray(1);
    // The buffer may be one of the socket.
    const data = base64 ? Buffer.from(content.toString('latin1'), 'base64') : Buffer.from(content);
    if (!channel || channel.receive(data)) return;
    this.full.add(channel);
    this.socket.pause();
  }

  private send(number: number, data: Buffer, done: (error?: Error | null) => void): void {
    if (this.socket.readyState !== this.socket.OPEN) return done();
    const message = this.framing.base64
      ? Buffer.from(`${number}${data.toString('base64')}`, 'latin1')
      : Buffer.concat([Buffer.from([number]), data]);
    this.socket.send(message, { binary: !this.framing.base64 }, done);
  }
}

class Channel extends Duplex {
  private isFinished = false;

  constructor(
    private readonly send: (data: Buffer, done: (error?: Error | null) => void) => void,
    private readonly resumeSocket: () => void,
  ) {
    super({ allowHalfOpen: true });
  }

  receive(data: Buffer): boolean {
    return data.length === 0 || this.destroyed || this.isFinished || this.push(data);
  }

  finish(): void {
    if (!this.isFinished) this.push(null);
    this.isFinished = true;
  }

  override _read(): void {
    this.resumeSocket();
  }

  override _write(data: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.send(data, done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.resumeSocket();
    done(error);
  }
}
