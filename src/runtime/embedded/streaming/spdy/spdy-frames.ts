import { SpdyError } from './spdy-error.js';
import { HeaderDecoder, HeaderEncoder, type SpdyHeaders } from './spdy-headers.js';

/**
 * One frame of SPDY/3.1. The codec is our own: the package `spdy-transport` is not maintained, refuses the streams of
 * Kubernetes clients, which have no path, and waits for windows that the peers written in Go never update. A reader returns the content of a data frame as it arrives, in several `data` of which only
 * the last one may be `isLast`.
 */
export type SpdyFrame =
  | { readonly kind: 'data'; readonly streamId: number; readonly data: Buffer; readonly isLast: boolean }
  | {
      readonly kind: 'open' | 'reply' | 'headers';
      readonly streamId: number;
      readonly headers: SpdyHeaders;
      /** Whether the sender sends nothing more on the stream. */
      readonly isLast: boolean;
    }
  | { readonly kind: 'reset'; readonly streamId: number; readonly status: number }
  | { readonly kind: 'ping'; readonly id: number }
  | { readonly kind: 'goAway'; readonly lastStreamId: number; readonly status: number }
  /** A frame without a meaning here: settings, windows, and types of later versions. */
  | { readonly kind: 'other'; readonly type: number };

/** Source: SPDY/3.1, 2.6 "Control frames". */
const TYPES = { open: 1, reply: 2, reset: 3, ping: 6, goAway: 7, headers: 8 } as const;
const FIN = 0x01;
const CONTROL_BIT = 0x8000;
const VERSION = 3;
const STREAM_ID_MASK = 0x7fff_ffff;
const HEAD_BYTES = 8;
/** The limit of a control frame. */
const CONTROL_MAX_BYTES = 64 * 1024;
/** The largest data frame that is written. */
export const DATA_MAX_BYTES = 0xff_ffff;

/** Writes the frames of one direction of a connection, whose header blocks depend on each other. */
export class FrameEncoder {
  private readonly headers = new HeaderEncoder();

  encode(frame: Exclude<SpdyFrame, { kind: 'other' }>): Buffer {
    switch (frame.kind) {
      case 'data':
        return Buffer.concat([dataHead(frame.streamId, frame.data.length, frame.isLast), frame.data]);
      case 'open':
        // Associated stream 0, priority 0, no slot of credentials.
        return control(
          TYPES.open,
          frame.isLast,
          numbers(frame.streamId, 0),
          Buffer.alloc(2),
          this.headers.encode(frame.headers),
        );
      case 'reply':
      case 'headers':
        return control(TYPES[frame.kind], frame.isLast, numbers(frame.streamId), this.headers.encode(frame.headers));
      case 'reset':
        return control(TYPES.reset, false, numbers(frame.streamId, frame.status));
      case 'ping':
        return control(TYPES.ping, false, numbers(frame.id));
      case 'goAway':
        return control(TYPES.goAway, false, numbers(frame.lastStreamId, frame.status));
    }
  }
}

/** The eight bytes in front of the content of a data frame. */
export const dataHead = (streamId: number, length: number, isLast: boolean): Buffer => {
  const head = numbers(streamId, length);
  head[4] = isLast ? FIN : 0;
  return head;
};

const numbers = (...values: readonly number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => bytes.writeUInt32BE(value >>> 0, 4 * index));
  return bytes;
};

const control = (type: number, isLast: boolean, ...content: readonly Buffer[]): Buffer => {
  const length = content.reduce((sum, part) => sum + part.length, 0);
  const head = numbers(((CONTROL_BIT | VERSION) << 16) | type, length);
  head[4] = isLast ? FIN : 0;
  return Buffer.concat([head, ...content]);
};

/**
 * Reads frames from bytes in pieces of any size. It holds at most one control frame. Errors: `SpdyError`, after which
 * it must not be used any more.
 */
export class FrameDecoder {
  private readonly headers = new HeaderDecoder();
  private held: Buffer = Buffer.alloc(0);
  /** The data frame that is being read. */
  private data: { readonly streamId: number; readonly isLast: boolean; left: number } | undefined;

  /** The frames that end in this piece, in order. */
  *decode(piece: Buffer): Generator<SpdyFrame, void, undefined> {
    let bytes = this.held.length === 0 ? piece : Buffer.concat([this.held, piece]);
    this.held = Buffer.alloc(0);
    while (bytes.length > 0) {
      if (this.data) {
        const part = bytes.subarray(0, this.data.left);
        bytes = bytes.subarray(part.length);
        yield* this.dataPart(this.data, part);
        continue;
      }
      const length = bytes.length < HEAD_BYTES ? undefined : bytes.readUIntBE(5, 3);
      const isControl = ((bytes[0] ?? 0) & 0x80) !== 0;
      if (length !== undefined && isControl) {
        checkControl(bytes, length);
        if (bytes.length >= HEAD_BYTES + length) {
          yield this.control(bytes, bytes.subarray(HEAD_BYTES, HEAD_BYTES + length));
          bytes = bytes.subarray(HEAD_BYTES + length);
          continue;
        }
      } else if (length !== undefined) {
        const streamId = bytes.readUInt32BE(0);
        const isLast = ((bytes[4] ?? 0) & FIN) !== 0;
        bytes = bytes.subarray(HEAD_BYTES);
        if (length > 0) this.data = { streamId, isLast, left: length };
        else yield { kind: 'data', streamId, data: Buffer.alloc(0), isLast };
        continue;
      }
      // A copy: the piece may be part of a large buffer.
      this.held = Buffer.from(bytes);
      return;
    }
  }

  private *dataPart(frame: { readonly streamId: number; readonly isLast: boolean; left: number }, data: Buffer) {
    const { streamId, isLast } = frame;
    frame.left -= data.length;
    if (frame.left === 0) this.data = undefined;
    yield { kind: 'data', streamId, data, isLast: isLast && frame.left === 0 } as const;
  }

  private control(head: Buffer, content: Buffer): SpdyFrame {
    const type = head.readUInt16BE(2);
    const isLast = ((head[4] ?? 0) & FIN) !== 0;
    const number = (at: number): number => {
      if (at + 4 > content.length) throw new SpdyError(`a control frame of type ${type} is too short`);
      return content.readUInt32BE(at);
    };
    const streamId = (): number => number(0) & STREAM_ID_MASK;
    const headersFrom = (at: number): SpdyHeaders => {
      if (content.length < at) throw new SpdyError(`a control frame of type ${type} is too short`);
      return this.headers.decode(content.subarray(at));
    };
    switch (type) {
      case TYPES.open:
        return { kind: 'open', streamId: streamId(), headers: headersFrom(10), isLast };
      case TYPES.reply:
        return { kind: 'reply', streamId: streamId(), headers: headersFrom(4), isLast };
      case TYPES.headers:
        return { kind: 'headers', streamId: streamId(), headers: headersFrom(4), isLast };
      case TYPES.reset:
        return { kind: 'reset', streamId: streamId(), status: number(4) };
      case TYPES.ping:
        return { kind: 'ping', id: number(0) };
      case TYPES.goAway:
        return { kind: 'goAway', lastStreamId: streamId(), status: number(4) };
      default:
        return { kind: 'other', type };
    }
  }
}

const checkControl = (head: Buffer, length: number): void => {
  const version = head.readUInt16BE(0) & ~CONTROL_BIT;
  if (version !== VERSION) throw new SpdyError(`a frame of SPDY version ${version}, expected ${VERSION}`);
  if (length > CONTROL_MAX_BYTES) throw new SpdyError(`a control frame of ${length} bytes is too large`);
};
