import { type BytePath, osPath } from '../../processes/byte-path.js';

/** One entry of an archive. */
export interface TarHeader {
  readonly name: BytePath;
  readonly type: 'file' | 'symlink' | 'directory';
  /** The target of a symlink. */
  readonly linkName?: BytePath;
  readonly mode: number;
  readonly uid: number;
  readonly gid: number;
  readonly mtimeMs: number;
  /** The bytes of the content of a file. */
  readonly size: number;
}

const BLOCK_BYTES = 512;
const NAME_BYTES = 100;
const TYPES = { file: '0', symlink: '2', directory: '5', longLinkName: 'K', longName: 'L' } as const;
const NO_FACTS = { mode: 0, uid: 0, gid: 0, mtimeMs: 0 };

/** The end of an archive. */
export const TAR_END: Buffer = Buffer.alloc(2 * BLOCK_BYTES);

/** The zeros between a content of this size and the next header. */
export const tarPadding = (size: number): Buffer => Buffer.alloc((BLOCK_BYTES - (size % BLOCK_BYTES)) % BLOCK_BYTES);

/**
 * The blocks in front of the content of an entry, in the format of GNU, which all programs `tar` of Linux read: it has names of any length
 * and any bytes. `tar-stream` writes the names of the format pax, which are UTF-8.
 *
 * Source: https://www.gnu.org/software/tar/manual/html_node/Standard.html
 */
export const tarHeader = ({ name, linkName = '', type, ...facts }: TarHeader): Buffer => {
  // Programs older than the type recognise a directory by its slash.
  const whole = type === 'directory' ? `${name}/` : name;
  return Buffer.concat([
    ...longName('longLinkName', linkName),
    ...longName('longName', whole),
    block({ ...facts, name: whole, linkName, type: TYPES[type] }),
  ]);
};

/** An entry of its own, whose content is the name of the next entry. */
const longName = (type: 'longLinkName' | 'longName', name: BytePath): readonly Buffer[] => {
  if (name.length <= NAME_BYTES) return [];
  const content = osPath(`${name}\0`);
  const size = content.length;
  return [
    block({ ...NO_FACTS, name: '././@LongLink', linkName: '', type: TYPES[type], size }),
    ...[content, tarPadding(size)],
  ];
};

const block = ({
  name,
  linkName,
  type,
  mode,
  uid,
  gid,
  size,
  mtimeMs,
}: Required<Omit<TarHeader, 'type'>> & { readonly type: string }): Buffer => {
  const bytes = Buffer.alloc(BLOCK_BYTES);
  bytes.write(name.slice(0, NAME_BYTES), 0, 'latin1');
  number(mode & 0o7777, 8).copy(bytes, 100);
  number(uid, 8).copy(bytes, 108);
  number(gid, 8).copy(bytes, 116);
  number(size, 12).copy(bytes, 124);
  number(Math.max(0, Math.floor(mtimeMs / 1000)), 12).copy(bytes, 136);
  // The sum counts its own field as spaces.
  bytes.write(`        ${type}`, 148, 'latin1');
  bytes.write(linkName.slice(0, NAME_BYTES), 157, 'latin1');
  bytes.write('ustar  \0', 257, 'latin1');
  const sum = bytes.reduce((total, byte) => total + byte, 0);
  bytes.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  return bytes;
};

/** Octal digits; a number that has too many becomes binary, with the highest bit set. */
const number = (value: number, width: number): Buffer => {
  const octal = value.toString(8);
  if (octal.length < width) return Buffer.from(`${octal.padStart(width - 1, '0')}\0`);
  const binary = Buffer.from(value.toString(16).padStart(2 * width, '0'), 'hex');
  binary[0] = 0x80;
  return binary;
};
