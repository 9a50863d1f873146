import { crc32, inflateRawSync } from 'node:zlib';

/**
 * One member of a gzip file with its length in the header, so that a reader finds the next one and detects a torn one,
 * while `zcat` reads the file like any other. Source: RFC 1952, with a subfield of its own in FEXTRA, as BGZF has one.
 */
const HEADER_BYTES = 20;
const TRAILER_BYTES = 8;
const MAGIC = Buffer.from([0x1f, 0x8b, 0x08, 0x04, 0, 0, 0, 0, 0, 0xff, 8, 0, 0x72, 0x78, 4, 0]);

/** Builds the block of a text from the result of `deflateRaw`. */
export const gzipBlock = (content: Uint8Array, deflated: Uint8Array): Buffer => {
  const block = Buffer.allocUnsafe(HEADER_BYTES + deflated.length + TRAILER_BYTES);
  MAGIC.copy(block);
  block.writeUInt32LE(block.length, MAGIC.length);
  block.set(deflated, HEADER_BYTES);
  block.writeUInt32LE(crc32(content), HEADER_BYTES + deflated.length);
  block.writeUInt32LE(content.length % 2 ** 32, HEADER_BYTES + deflated.length + 4);
  return block;
};

/** Whether a file may have been torn after these bytes of a block. */
export const isBeginning = (bytes: Buffer): boolean =>
  bytes.subarray(0, MAGIC.length).equals(MAGIC.subarray(0, bytes.length));

/**
 * Reads the header at the beginning of a file, or after a block: the length of the next block in bytes, if there is
 * one.
 */
export const blockLength = (header: Buffer): number | undefined => {
  if (header.length < HEADER_BYTES || !isBeginning(header)) return undefined;
  const length = header.readUInt32LE(MAGIC.length);
  return length >= HEADER_BYTES + TRAILER_BYTES ? length : undefined;
};

/** The bytes of a file that `blockLength` needs. */
export const BLOCK_HEADER_BYTES = HEADER_BYTES;

/** Returns the content of a whole block; `undefined` if its checksum does not match. */
export const contentOf = (block: Buffer): Buffer | undefined => {
  try {
    const content = inflateRawSync(block.subarray(HEADER_BYTES, -TRAILER_BYTES));
    const [sum, length] = [block.readUInt32LE(block.length - 8), block.readUInt32LE(block.length - 4)];
    return crc32(content) === sum && content.length % 2 ** 32 === length ? content : undefined;
  } catch {
    return undefined;
  }
};

/** Returns the position of the next possible block from a place on; -1 for none. */
export const nextMagic = (bytes: Buffer, from: number): number => bytes.indexOf(MAGIC, from);

/** The bytes that a crashed machine had no time to write: the length of the file was kept, and they are zeros. */
export const isUnwritten = (block: Buffer): boolean =>
  block.includes(UNWRITTEN) || block.subarray(-TRAILER_BYTES).every((byte) => byte === 0);

/** The output of `deflateRaw` contains no such run of zeros. */
const UNWRITTEN = Buffer.alloc(64);
