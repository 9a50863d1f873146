import { readFileSync } from 'node:fs';
import { endianness } from 'node:os';

/** Bytes per page of memory of this machine, as the kernel passed it to this process; 4096 if that cannot be read. */
export const pageSize = (): bigint => (found ??= readPageSize());
let found: bigint | undefined;

const readPageSize = (): bigint => {
  try {
    return pageSizeIn(readFileSync('/proc/self/auxv'), endianness());
  } catch {
    return COMMON;
  }
};

/** Pairs of a type and a value, each of 64 bits. Source: getauxval(3) */
export const pageSizeIn = (auxiliary: Buffer, order: 'LE' | 'BE'): bigint => {
  const at = (offset: number) =>
    order === 'LE' ? auxiliary.readBigUInt64LE(offset) : auxiliary.readBigUInt64BE(offset);
  for (let offset = 0; offset + 16 <= auxiliary.length; offset += 16)
    if (at(offset) === AT_PAGESZ) return at(offset + 8);
  return COMMON;
};

const AT_PAGESZ = 6n;
const COMMON = 4096n;
