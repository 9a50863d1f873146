/** The text as one word of a POSIX shell script. */
export const shellQuote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** An argument vector as shell words. */
export const shellWords = (words: readonly string[]): string => words.map(shellQuote).join(' ');
