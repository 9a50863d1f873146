const BYTES = new TextEncoder();

/** FNV-1a over the UTF-8 bytes of `text`, 32 bits wide, as an unsigned number. Source: http://www.isthe.com/chongo/tech/comp/fnv */
export const fnv1a32 = (text: string): number =>
  BYTES.encode(text).reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193) >>> 0, 0x811c9dc5);

/** FNV-1a, 64 bits wide. */
export const fnv1a64 = (text: string): bigint =>
  BYTES.encode(text).reduce(
    (hash, byte) => BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n),
    0xcbf29ce484222325n,
  );

/**
 * FNV-1a with 128 bits, in four numbers of 32 bits: a bigint for each byte takes about
 * fifty times as long, and manifests have many kilobytes. The prime is 2^88 + 0x13b.
 *
 * `from` is the hash of a text before this one: the result is then that of both together.
 */
export const fnv1a128 = (text: string, from = OFFSET_128): bigint => {
  let [d, c, b, a] = [96n, 64n, 32n, 0n].map((shift) => Number((from >> shift) & 0xffffffffn)) as Words;
  for (const byte of BYTES.encode(text)) {
    const low = (a ^ byte) >>> 0;
    // Each product has 41 bits at most, which a number holds exactly.
    const first = low * 0x13b;
    const second = b * 0x13b + Math.floor(first / WORD);
    const third = c * 0x13b + Math.floor(second / WORD) + ((low << 24) >>> 0);
    const fourth = d * 0x13b + Math.floor(third / WORD) + (((b << 24) | (low >>> 8)) >>> 0);
    [d, c, b, a] = [fourth % WORD, third % WORD, second % WORD, first % WORD];
  }
  return [d, c, b, a].reduce((hash, word) => (hash << 32n) | BigInt(word), 0n);
};

const OFFSET_128 = 0x6c62272e07bb014262b821756295c58dn;
const WORD = 2 ** 32;
type Words = [number, number, number, number];

/** FNV-1a 128 as 32 lower-case hex digits, in the byte order in which Go's `hash.Hash.Sum` gives them. */
export const fnv1a128Hex = (text: string, from?: bigint): string => fnv1a128(text, from).toString(16).padStart(32, '0');
