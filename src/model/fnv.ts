const BYTES = new TextEncoder();

/** FNV-1a over the UTF-8 bytes of `text`, 32 bits wide, as an unsigned number. Source: http://www.isthe.com/chongo/tech/comp/fnv */
export const fnv1a32 = (text: string): number =>
  BYTES.encode(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);

/** FNV-1a, 64 bits wide. */
export const fnv1a64 = (text: string): bigint => fnv1aBig(text, 64, 0xcbf29ce484222325n, 0x100000001b3n);

/** FNV-1a, 128 bits wide. */
export const fnv1a128 = (text: string): bigint =>
  fnv1aBig(text, 128, 0x6c62272e07bb014262b821756295c58dn, 0x1000000000000000000013bn);

/** FNV-1a 128 as 32 lower-case hex digits, in the byte order in which Go's `hash.Hash.Sum` gives them. */
export const fnv1a128Hex = (text: string): string => fnv1a128(text).toString(16).padStart(32, '0');

const fnv1aBig = (text: string, bits: number, offset: bigint, prime: bigint): bigint =>
  BYTES.encode(text).reduce((hash, byte) => BigInt.asUintN(bits, (hash ^ BigInt(byte)) * prime), offset);
