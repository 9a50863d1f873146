import { StringDecoder } from 'node:string_decoder';

export interface JsonLines {
  /** Returns the lines that end in this chunk, except empty ones. Errors: throws if a line is too long, complete or not. */
  readonly push: (chunk: Buffer) => readonly string[];
  /** Returns the incomplete line; empty between two lines. */
  readonly rest: () => string;
}

/** Splits a stream of bytes into lines. A chunk may end anywhere, even within a character. */
export const jsonLines = (maxLength = Infinity): JsonLines => {
  const decoder = new StringDecoder('utf8');
  // Not one growing text: each chunk of a long line would copy it.
  let parts: string[] = [];
  let length = 0;
  const append = (part: string): void => {
    length += part.length;
    if (length > maxLength) throw new Error(`a line is longer than ${maxLength / 2 ** 20} MiB`);
    parts.push(part);
  };
  const line = (): string => {
    const whole = parts.join('');
    parts = [];
    length = 0;
    return whole;
  };
  return {
    push: (chunk) => {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      const lines: string[] = [];
      append(first);
      for (const part of others) {
        lines.push(line());
        append(part);
      }
      return lines.filter((one) => one.trim() !== '');
    },
    rest: () => (parts.join('') + decoder.end()).trim(),
  };
};
