import { StringDecoder } from 'node:string_decoder';

export interface JsonLines {
  /** The lines that end in this chunk, without empty ones. */
  readonly push: (chunk: Buffer) => readonly string[];
  /** What has begun and not ended; empty between two lines. */
  readonly rest: () => string;
}

/** Takes a stream of bytes apart into lines, wherever it is cut: in the middle of a character as well. */
export const jsonLines = (): JsonLines => {
  const decoder = new StringDecoder('utf8');
  // Not one text that grows: a line of many chunks would be copied with each of them.
  let parts: string[] = [];
  return {
    push: (chunk) => {
      const [first = '', ...others] = decoder.write(chunk).split('\n');
      parts.push(first);
      if (others.length === 0) return [];
      const lines = [parts.join(''), ...others.slice(0, -1)];
      parts = [others.at(-1)!];
      return lines.filter((line) => line.trim() !== '');
    },
    rest: () => (parts.join('') + decoder.end()).trim(),
  };
};
