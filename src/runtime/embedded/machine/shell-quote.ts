import { isUtf8 } from 'node:buffer';

/** The text as one word of a POSIX shell script. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * Returns bytes as one word of a POSIX shell script in UTF-8. printf(1) makes what is not UTF-8; the shell removes newlines at
 * the end of its output, so these stand behind it.
 */
export const byteWord = (bytes: Uint8Array): string => {
  if (isUtf8(bytes)) return shellQuote(Buffer.from(bytes).toString());
  const end = bytes.findLastIndex((byte) => byte !== NEWLINE) + 1;
  const octal = [...bytes.subarray(0, end)].map((byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  return `"$(printf '${octal.join('')}')"${shellQuote('\n'.repeat(bytes.length - end))}`;
};

const NEWLINE = 0x0a;

/** An argument vector as shell words. */
export const shellWords = (words: readonly string[]): string => words.map(shellQuote).join(' ');
