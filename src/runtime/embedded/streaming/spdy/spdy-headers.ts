import { constants, inflateRawSync } from 'node:zlib';
import { SPDY_DICTIONARY } from './spdy-dictionary.js';
import { SpdyError } from './spdy-error.js';

/** Header names in lower case, with their values; several values of a name are joined with NUL. */
export type SpdyHeaders = ReadonlyMap<string, string>;

/** The limit of one block, uncompressed. The blocks of exec and port forwarding have some hundred bytes. */
const BLOCK_MAX_BYTES = 64 * 1024;
const PAIRS_MAX = 256;
/** How far back deflate refers. */
const WINDOW_BYTES = 32 * 1024;
/** The largest content of one stored block of deflate. */
const STORED_MAX_BYTES = 0xffff;
/** An empty stored block: the end of a sync flush. */
const FLUSHED = Buffer.from([0x00, 0x00, 0x00, 0xff, 0xff]);
/** Deflate with a window of 32 KiB, without a dictionary. */
const ZLIB_START = Buffer.from([0x78, 0x01]);

const EMPTY: Buffer = Buffer.alloc(0);

const encodePairs = (headers: SpdyHeaders): Buffer => {
  const texts = [...headers].flatMap(([name, value]) => [name.toLowerCase(), value]);
  const count = Buffer.alloc(4);
  count.writeUInt32BE(headers.size);
  return Buffer.concat([
    count,
    ...texts.flatMap((text) => {
      const bytes = Buffer.from(text, 'utf8');
      const length = Buffer.alloc(4);
      length.writeUInt32BE(bytes.length);
      return [length, bytes];
    }),
  ]);
};

const decodePairs = (bytes: Buffer): SpdyHeaders => {
  let at = 0;
  const number = (): number => {
    if (at + 4 > bytes.length) throw new SpdyError('a header block is too short');
    at += 4;
    return bytes.readUInt32BE(at - 4);
  };
  const text = (): string => {
    const length = number();
    if (length > bytes.length - at) throw new SpdyError('a header is longer than its block');
    at += length;
    return bytes.toString('utf8', at - length, at);
  };
  const count = number();
  if (count > PAIRS_MAX) throw new SpdyError(`a header block has ${count} headers, at most ${PAIRS_MAX} are allowed`);
  const headers = new Map<string, string>();
  for (let read = 0; read < count; read += 1) {
    const name = text().toLowerCase();
    headers.set(name, text());
  }
  if (at !== bytes.length) throw new SpdyError('a header block is longer than its headers');
  return headers;
};

/**
 * Writes the header blocks of a connection. They are stored, not compressed, which is deflate too: a block has some
 * hundred bytes, and compression would need a window of 256 KiB for each connection.
 */
export class HeaderEncoder {
  private isFirst = true;

  encode(headers: SpdyHeaders): Buffer {
    const pairs = encodePairs(headers);
    if (pairs.length > STORED_MAX_BYTES) throw new RangeError(`headers of ${pairs.length} bytes`);
    const start = Buffer.alloc(5);
    start.writeUInt16LE(pairs.length, 1);
    start.writeUInt16LE(~pairs.length & 0xffff, 3);
    const zlib = this.isFirst ? ZLIB_START : EMPTY;
    this.isFirst = false;
    return Buffer.concat([zlib, start, pairs, FLUSHED]);
  }
}

/**
 * Reads the header blocks of a connection in order. A block ends with a sync flush, at the border of a byte, so that
 * all it shares with the block before is the window of deflate: each is inflated by itself, with that window as its
 * dictionary. Errors: `SpdyError`.
 */
export class HeaderDecoder {
  private window: Buffer | undefined;

  decode(block: Buffer): SpdyHeaders {
    const deflated = this.withoutStart(block);
    if (!deflated.subarray(-4).equals(FLUSHED.subarray(-4))) throw new SpdyError('a header block ends without a flush');
    const pairs = this.inflate(deflated);
    this.window = Buffer.concat([this.window ?? EMPTY, pairs]).subarray(-WINDOW_BYTES);
    return decodePairs(pairs);
  }

  /** The first block begins with the start of zlib, which may name the dictionary. */
  private withoutStart(block: Buffer): Buffer {
    if (this.window) return block;
    const [method = 0, flags = 0] = block;
    if (block.length < 2 || (method & 0x0f) !== 8 || ((method << 8) | flags) % 31 !== 0)
      throw new SpdyError('the first header block is not zlib');
    const hasDictionary = (flags & 0x20) !== 0;
    this.window = hasDictionary ? SPDY_DICTIONARY : EMPTY;
    return block.subarray(hasDictionary ? 6 : 2);
  }

  private inflate(deflated: Buffer): Buffer {
    const { window = EMPTY } = this;
    try {
      return inflateRawSync(deflated, {
        finishFlush: constants.Z_SYNC_FLUSH,
        maxOutputLength: BLOCK_MAX_BYTES,
        ...(window.length > 0 && { dictionary: window }),
      });
    } catch (error) {
      throw new SpdyError(`a header block cannot be inflated: ${String(error)}`);
    }
  }
}
