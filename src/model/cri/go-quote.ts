/** Quotes a text as Go's `%q` does, which escapes control characters in another form than JSON. */
export const goQuote = (text: string): string =>
  JSON.stringify(text)
    .replace(/\\u00([01][0-9a-f])/g, (_, hex: string) => (hex === '07' ? '\\a' : hex === '0b' ? '\\v' : `\\x${hex}`))
    .replaceAll('\x7f', '\\x7f');
