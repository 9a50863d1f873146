/**
 * Returns the text of a manifest, or the reason why the bytes are not one. Text in another encoding would be read as
 * nonsense and quoted in errors.
 *
 * Source: go-yaml's reader also accepts UTF-16 with a byte order mark; other parts of Kubernetes do not.
 */
export const decodeManifest = (bytes: Uint8Array): { readonly text: string } | { readonly problem: string } => {
  if (isUtf16(bytes)) return { problem: 'is UTF-16, expected UTF-8' };
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) };
  } catch {
    return { problem: 'is not text, expected UTF-8' };
  }
};

/** Detects UTF-16 by its mark, or by a zero in every other byte, as plain letters have. */
const isUtf16 = (bytes: Uint8Array): boolean => {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) return true;
  const start = [...bytes.subarray(0, 64)];
  const isZeroAt = (parity: number): boolean => start.every((byte, index) => (byte === 0) === (index % 2 === parity));
  return start.length > 1 && (isZeroAt(0) || isZeroAt(1));
};
