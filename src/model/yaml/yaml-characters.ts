/** The character codes with a meaning in YAML. */
export const CODE = {
  tab: 0x09,
  lineFeed: 0x0a,
  carriageReturn: 0x0d,
  space: 0x20,
  exclamation: 0x21,
  doubleQuote: 0x22,
  hash: 0x23,
  percent: 0x25,
  ampersand: 0x26,
  singleQuote: 0x27,
  asterisk: 0x2a,
  plus: 0x2b,
  comma: 0x2c,
  minus: 0x2d,
  dot: 0x2e,
  zero: 0x30,
  nine: 0x39,
  colon: 0x3a,
  greater: 0x3e,
  question: 0x3f,
  at: 0x40,
  openBracket: 0x5b,
  backslash: 0x5c,
  closeBracket: 0x5d,
  backtick: 0x60,
  openBrace: 0x7b,
  bar: 0x7c,
  closeBrace: 0x7d,
  nextLine: 0x85,
  lineSeparator: 0x2028,
  paragraphSeparator: 0x2029,
} as const;

/** Version 1.1 has three characters that are line breaks; later versions do not count them. */
export const isBreak = (code: number): boolean =>
  code === CODE.lineFeed ||
  code === CODE.carriageReturn ||
  code === CODE.nextLine ||
  code === CODE.lineSeparator ||
  code === CODE.paragraphSeparator;

export const isBlank = (code: number): boolean => code === CODE.space || code === CODE.tab;

/** A blank, a line break, or the end of the text, whose code is NaN. */
export const isBlankOrEnd = (code: number): boolean => isBlank(code) || isBreak(code) || Number.isNaN(code);

export const isDigit = (code: number): boolean => code >= CODE.zero && code <= CODE.nine;

/** Finds a character that a YAML text must not contain, such as half of a surrogate pair. */
export const FORBIDDEN = /[^\t\n\r\x20-\x7E\x85\xA0-\uD7FF\uE000-\uFEFE\uFF00-\uFFFD\u{10000}-\u{10FFFF}]/u;
