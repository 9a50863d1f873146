import type { Readable } from 'node:stream';
import { deflateRawSync, constants, createDeflate, createInflate } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { SPDY_DICTIONARY } from '../../../src/runtime/embedded/streaming/spdy/spdy-dictionary.js';
import { SpdyError } from '../../../src/runtime/embedded/streaming/spdy/spdy-error.js';
import {
  FrameDecoder,
  FrameEncoder,
  type SpdyFrame,
} from '../../../src/runtime/embedded/streaming/spdy/spdy-frames.js';
import { HeaderDecoder, HeaderEncoder } from '../../../src/runtime/embedded/streaming/spdy/spdy-headers.js';

const streamId = fc.integer({ min: 1, max: 0x7fff_ffff });
const number = fc.integer({ min: 0, max: 0xffff_ffff });
const headers = fc
  .dictionary(fc.stringMatching(/^[a-z][a-z0-9-]{0,15}$/), fc.string({ maxLength: 60, unit: 'grapheme' }), {
    maxKeys: 8,
  })
  .map((pairs) => new Map(Object.entries(pairs)));
const isLast = fc.boolean();
type Written = Exclude<SpdyFrame, { kind: 'other' }>;
const frame: fc.Arbitrary<Written> = fc.oneof(
  fc.record({
    kind: fc.constant('data' as const),
    streamId,
    data: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
    isLast,
  }),
  fc.record({
    kind: fc.constantFrom('open' as const, 'reply' as const, 'headers' as const),
    streamId,
    headers,
    isLast,
  }),
  fc.record({ kind: fc.constant('reset' as const), streamId, status: number }),
  fc.record({ kind: fc.constant('ping' as const), id: number }),
  fc.record({ kind: fc.constant('goAway' as const), lastStreamId: streamId, status: number }),
);

/** The bytes in pieces of the given sizes, over and over. */
const pieces = (bytes: Buffer, sizes: readonly number[]): Buffer[] => {
  const found: Buffer[] = [];
  for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1;
    found.push(bytes.subarray(at, at + size));
    at += size;
  }
  return found;
};

/** Joins the parts of a data frame, of which only the last may end the stream. */
const whole = (frames: readonly SpdyFrame[], lengths: readonly number[]): SpdyFrame[] => {
  const left = [...lengths];
  const joined: SpdyFrame[] = [];
  let parts: Buffer[] = [];
  for (const each of frames) {
    if (each.kind !== 'data') {
      joined.push(each);
      continue;
    }
    parts.push(each.data);
    const length = parts.reduce((sum, part) => sum + part.length, 0);
    if (length < (left[0] ?? 0)) {
      expect(each.isLast).toBe(false);
      continue;
    }
    left.shift();
    joined.push({ ...each, data: Buffer.concat(parts) });
    parts = [];
  }
  expect(parts).toEqual([]);
  return joined;
};

describe('frames of SPDY', () => {
  it('come back as they were written, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc.array(frame, { maxLength: 12 }),
        fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1, maxLength: 5 }),
        (written, sizes) => {
          const encoder = new FrameEncoder();
          const decoder = new FrameDecoder();
          const bytes = Buffer.concat(written.map((each) => encoder.encode(each)));
          const read = pieces(bytes, sizes).flatMap((piece) => [...decoder.decode(piece)]);
          const lengths = written.flatMap((each) => (each.kind === 'data' ? [each.data.length] : []));
          expect(whole(read, lengths)).toEqual(written);
        },
      ),
    );
  });

  it('of any bytes are read, or refused with an error of their own', () => {
    const start = new FrameEncoder().encode({
      kind: 'open',
      streamId: 1,
      headers: new Map([['a', 'b']]),
      isLast: false,
    });
    const hostile = fc.oneof(
      fc.uint8Array({ maxLength: 400 }).map((bytes) => Buffer.from(bytes)),
      // Almost right: one byte of a frame is another one.
      fc.tuple(fc.nat(start.length - 1), fc.nat(255)).map(([at, byte]) => {
        const bytes = Buffer.from(start);
        bytes[at] = byte;
        return bytes;
      }),
      // Control frames of every type with any content.
      fc
        .tuple(fc.nat(12), fc.nat(255), fc.uint8Array({ maxLength: 60 }))
        .map(([type, flags, content]) =>
          Buffer.concat([Buffer.from([0x80, 3, 0, type, flags, 0, 0, content.length]), Buffer.from(content)]),
        ),
    );
    fc.assert(
      fc.property(fc.array(hostile, { minLength: 1, maxLength: 4 }), (parts) => {
        const decoder = new FrameDecoder();
        try {
          for (const part of parts) for (const each of decoder.decode(part)) expect(each.kind).toBeTypeOf('string');
        } catch (error) {
          expect(error).toBeInstanceOf(SpdyError);
        }
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    ['another version', [0x80, 2, 0, 6, 0, 0, 0, 4, 0, 0, 0, 1], 'a frame of SPDY version 2, expected 3'],
    ['a control frame beyond its limit', [0x80, 3, 0, 1, 0, 1, 0, 1], 'a control frame of 65537 bytes is too large'],
    ['a frame without its content', [0x80, 3, 0, 3, 0, 0, 0, 4, 0, 0, 0, 1], 'a control frame of type 3 is too short'],
    ['no zlib', [0x80, 3, 0, 2, 0, 0, 0, 6, 0, 0, 0, 1, 1, 2], 'the first header block is not zlib'],
  ])('%s is refused', (_what, bytes, message) => {
    expect(() => [...new FrameDecoder().decode(Buffer.from(bytes))]).toThrow(new SpdyError(message));
  });
});

describe('header blocks of SPDY', () => {
  it('have the dictionary of the specification', async () => {
    expect(SPDY_DICTIONARY.length).toBe(1423);
    // Its checksum is part of every zlib stream that begins with it.
    const deflate = createDeflate({ dictionary: SPDY_DICTIONARY });
    deflate.end('x');
    const bytes = Buffer.concat((await deflate.toArray()) as Buffer[]);
    expect(bytes.subarray(0, 6).toString('hex')).toBe('78bbe3c6a7c2');
  });

  /** All bytes that the stream holds. From Node 26 on, `read` returns them chunk by chunk. */
  const readAll = (stream: Readable): Buffer => {
    const chunks: Buffer[] = [];
    for (let chunk = stream.read() as Buffer | null; chunk; chunk = stream.read() as Buffer | null) chunks.push(chunk);
    return Buffer.concat(chunks);
  };

  /** A peer that compresses: one window over all blocks, each flushed. */
  const compressed = async (blocks: readonly Buffer[]): Promise<Buffer[]> => {
    const deflate = createDeflate({ dictionary: SPDY_DICTIONARY, level: 9 });
    const found: Buffer[] = [];
    for (const block of blocks) {
      await new Promise((resolve) => deflate.write(block, resolve));
      await new Promise<void>((resolve) => deflate.flush(constants.Z_SYNC_FLUSH, resolve));
      found.push(readAll(deflate));
    }
    deflate.destroy();
    return found;
  };
  const pairs = (entries: readonly (readonly [string, string])[]): Buffer => {
    const bytes: Buffer[] = [];
    const number = (value: number): void => {
      const buffer = Buffer.alloc(4);
      buffer.writeUInt32BE(value);
      bytes.push(buffer);
    };
    number(entries.length);
    for (const text of entries.flat()) {
      number(Buffer.byteLength(text));
      bytes.push(Buffer.from(text));
    }
    return Buffer.concat(bytes);
  };

  it('of a peer that compresses are read one after the other, also beyond the window', async () => {
    const sent = Array.from({ length: 40 }, (_, index) => [
      ['streamtype', index % 2 === 0 ? 'error' : 'data'] as const,
      ['port', '8080'] as const,
      ['padding', `${index}`.repeat(900)] as const,
    ]);
    const decoder = new HeaderDecoder();
    const read = (await compressed(sent.map(pairs))).map((block) => [...decoder.decode(block)]);
    expect(read).toEqual(sent);
  });

  it('that grow beyond the limit are refused before they are inflated whole', async () => {
    const [bomb = Buffer.alloc(0)] = await compressed([pairs([['a', 'x'.repeat(10_000_000)]])]);
    expect(bomb.length).toBeLessThan(64 * 1024);
    expect(() => new HeaderDecoder().decode(bomb)).toThrow(SpdyError);
  });

  it('without a flush, and with lengths that are wrong, are refused', () => {
    const first = Buffer.from([0x78, 0x01]);
    const flushed = (bytes: Buffer): Buffer =>
      Buffer.concat([first, deflateRawSync(bytes, { finishFlush: constants.Z_SYNC_FLUSH })]);
    expect(() => new HeaderDecoder().decode(Buffer.concat([first, deflateRawSync(pairs([]))]))).toThrow(
      'a header block ends without a flush',
    );
    const tooMany = Buffer.from(pairs([['a', 'b']]));
    tooMany.writeUInt32BE(2);
    expect(() => new HeaderDecoder().decode(flushed(tooMany))).toThrow('a header block is too short');
    const tooLong = Buffer.concat([pairs([['a', 'b']]), Buffer.from([0])]);
    expect(() => new HeaderDecoder().decode(flushed(tooLong))).toThrow('a header block is longer than its headers');
    const beyond = Buffer.from(pairs([['a', 'b']]));
    beyond.writeUInt32BE(1_000, 4);
    expect(() => new HeaderDecoder().decode(flushed(beyond))).toThrow('a header is longer than its block');
  });

  it('are written so that one inflate of zlib reads them, each as soon as it has arrived', async () => {
    const encoder = new HeaderEncoder();
    const inflate = createInflate({ dictionary: SPDY_DICTIONARY });
    for (const name of ['A', 'b', 'c']) {
      const block = encoder.encode(new Map([[name, 'value']]));
      await new Promise((resolve) => inflate.write(block, resolve));
      expect(readAll(inflate)).toEqual(pairs([[name.toLowerCase(), 'value']]));
    }
    inflate.destroy();
  });
});
