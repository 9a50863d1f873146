const OFFSET_BASIS = 0x6c62272e07bb014262b821756295c58dn;
const PRIME = 0x0000000001000000000000000000013bn;
const MASK = (1n << 128n) - 1n;

/** The 128-bit FNV-1a hash of the text's UTF-8 bytes as 32 lower-case hexadecimal digits. */
export const fnv1a128 = (text: string): string => {
  let hash = OFFSET_BASIS;
  for (const byte of new TextEncoder().encode(text)) hash = ((hash ^ BigInt(byte)) * PRIME) & MASK;
  return hash.toString(16).padStart(32, '0');
};
