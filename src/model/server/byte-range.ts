/** The bytes of a reply: the whole file, a part of it with both ends inclusive, or none that exist. */
export type ByteRange =
  | { readonly kind: 'whole' }
  | { readonly kind: 'part'; readonly first: number; readonly last: number }
  | { readonly kind: 'unsatisfiable' };

const WHOLE: ByteRange = { kind: 'whole' };

/**
 * Reads the header `Range` for a file of `size` bytes. Several ranges, and a header that cannot be read, count as none, as
 * RFC 9110 allows.
 */
export const byteRange = (header: string | undefined, size: number): ByteRange => {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(header?.replaceAll(' ', '') ?? '') ?? [];
  if (first === '' && last === '') return WHOLE;
  if (first !== '' && last !== '' && Number(last) < Number(first)) return WHOLE;
  // Without a first byte the number is that of the last bytes.
  const begin = first === '' ? Math.max(0, size - Number(last)) : Number(first);
  if (begin >= size || (first === '' && Number(last) === 0)) return { kind: 'unsatisfiable' };
  const end = first === '' || last === '' ? size - 1 : Math.min(Number(last), size - 1);
  return { kind: 'part', first: begin, last: end };
};
