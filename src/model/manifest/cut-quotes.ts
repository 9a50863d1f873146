const LONGEST_QUOTE = 60;
const LONGEST_TEXT = 500;

/**
 * Cuts every quoted part of the text to 60 characters, and the text to 500, so that a message about a manifest stays a
 * readable line.
 */
export const cutQuotes = (text: string): string => {
  let result = '';
  let from = 0;
  // The rest is cut off anyway.
  while (result.length <= LONGEST_TEXT) {
    const start = text.indexOf('"', from);
    if (start < 0) break;
    const end = endOfQuote(text, start);
    const quote = text.slice(start, end);
    result +=
      text.slice(from, start) + (quote.length <= LONGEST_QUOTE ? quote : `${wholeUpTo(quote, LONGEST_QUOTE - 2)}…"`);
    from = end;
  }
  result += text.slice(from, from + LONGEST_TEXT + 1);
  return result.length <= LONGEST_TEXT ? result : `${wholeUpTo(result, LONGEST_TEXT - 1)}…`;
};

/** The position after the closing quote, or the end of the text. */
const endOfQuote = (text: string, start: number): number => {
  for (let index = start + 1; index < text.length; index += 1) {
    if (text[index] === '\\') index += 1;
    else if (text[index] === '"') return index + 1;
  }
  return text.length;
};

/** Cuts a text to a number of characters, without splitting a surrogate pair. */
const wholeUpTo = (text: string, length: number): string =>
  text
    .slice(0, length)
    .replace(/[\uD800-\uDBFF]$/, '')
    .replace(/(?<!\\)(\\\\)*\\(u[0-9a-f]{0,3})?$/i, '$1');
