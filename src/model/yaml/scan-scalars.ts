import { CODE, isBlank, isBlankOrEnd, isBreak, isDigit } from './yaml-characters.js';
import type { YamlCursor } from './yaml-cursor.js';
import { YamlError } from './yaml-error.js';

/** A line break between two words is a space; of several line breaks the first one is left out. */
const fold = (first: string, more: string): string => (first === '\n' ? (more === '' ? ' ' : more) : first + more);

interface Gap {
  /** The text of the gap. */
  readonly text: string;
  readonly hasBreak: boolean;
}

/** Reads blanks and line breaks between two words. The gap is `undefined` if a tab is used for indentation. */
const skipGap = (cursor: YamlCursor, isAfterBreak: boolean, indent = 0): Gap | undefined => {
  const start = cursor.offset;
  let first = '';
  const more: string[] = [];
  let hasBreak = isAfterBreak;
  for (let code = cursor.peek(); isBlank(code) || isBreak(code); code = cursor.peek()) {
    if (isBlank(code)) {
      if (hasBreak && code === CODE.tab && cursor.column < indent) return undefined;
      cursor.skip();
    } else {
      const broken = cursor.skipBreak();
      if (hasBreak) more.push(broken);
      else first = broken;
      hasBreak = true;
    }
  }
  if (!hasBreak) return { text: cursor.text.slice(start, cursor.offset), hasBreak };
  // After an escaped line break only the following empty lines are folded.
  return { text: isAfterBreak ? more.join('') : fold(first, more.join('')), hasBreak };
};

export interface PlainScalar {
  readonly text: string;
  /** Whether a line break followed the scalar, after which a new key may begin. */
  readonly endsLine: boolean;
}

/** Reads a scalar without quotes; `indent` is the column that its further lines must reach. */
export const scanPlain = (cursor: YamlCursor, indent: number, isInFlow: boolean): PlainScalar => {
  const start = cursor.offset;
  const parts: string[] = [];
  let gap: Gap = { text: '', hasBreak: false };
  for (;;) {
    if (cursor.isAtAnyDocumentMark() || cursor.peek() === CODE.hash) break;
    const wordStart = cursor.offset;
    skipWord(cursor, isInFlow);
    if (cursor.offset > wordStart) {
      parts.push(gap.text, cursor.text.slice(wordStart, cursor.offset));
      gap = { text: '', hasBreak: false };
    }
    const code = cursor.peek();
    if (!isBlank(code) && !isBreak(code)) break;
    const next = skipGap(cursor, false, indent);
    if (!next) throw new YamlError('a tab is used for indentation, where only spaces are allowed', cursor.offset);
    gap = next;
    if (!isInFlow && cursor.column < indent) break;
  }
  if (cursor.offset === start) throw new YamlError('a character that cannot begin a value', start);
  return { text: parts.join(''), endsLine: gap.hasBreak };
};

/** Reads words and the blanks between them, up to the end of the line or of the scalar. */
const skipWord = (cursor: YamlCursor, isInFlow: boolean): void => {
  for (;;) {
    for (let code = cursor.peek(); !isBlankOrEnd(code); code = cursor.peek()) {
      if (endsPlain(code, cursor.peek(1), isInFlow)) return;
      cursor.skip();
    }
    const blanks = countBlanks(cursor);
    const next = cursor.peek(blanks);
    const goesOn = blanks > 0 && !isBlankOrEnd(next) && next !== CODE.hash;
    if (!goesOn || endsPlain(next, cursor.peek(blanks + 1), isInFlow)) return;
    cursor.skip(blanks);
  }
};

const endsPlain = (code: number, next: number, isInFlow: boolean): boolean =>
  (code === CODE.colon && isBlankOrEnd(next)) || (isInFlow && endsFlowWord(code));

const countBlanks = (cursor: YamlCursor): number => {
  let count = 0;
  while (isBlank(cursor.peek(count))) count += 1;
  return count;
};

/** Whether blanks in a quoted text are between words of one line; reads them if so. */
const skipInnerBlanks = (cursor: YamlCursor): boolean => {
  const blanks = countBlanks(cursor);
  if (blanks === 0 || isBlankOrEnd(cursor.peek(blanks))) return false;
  cursor.skip(blanks);
  return true;
};

/** For go-yaml a question mark in a word ends it, and no token can follow there. */
const endsFlowWord = (code: number): boolean =>
  code === CODE.comma ||
  code === CODE.openBracket ||
  code === CODE.closeBracket ||
  code === CODE.openBrace ||
  code === CODE.closeBrace;

/** Reads a scalar in single or double quotes. */
export const scanQuoted = (cursor: YamlCursor): string => {
  const start = cursor.offset;
  const quote = cursor.peek();
  cursor.skip();
  const parts: string[] = [];
  for (;;) {
    if (cursor.isAtAnyDocumentMark()) throw new YamlError('a text in quotes does not end before its document', start);
    if (Number.isNaN(cursor.peek())) throw new YamlError('a text in quotes does not end', start);
    const isAfterBreak = quote === CODE.singleQuote ? scanSingle(cursor, parts) : scanDouble(cursor, parts);
    if (cursor.peek() === quote) {
      cursor.skip();
      return parts.join('');
    }
    parts.push(skipGap(cursor, isAfterBreak)?.text ?? '');
  }
};

/** Up to the next blank, line break, or the quote at the end. */
const scanSingle = (cursor: YamlCursor, parts: string[]): false => {
  let start = cursor.offset;
  for (let code = cursor.peek(); !isBlankOrEnd(code) || skipInnerBlanks(cursor); code = cursor.peek()) {
    if (isBlank(code)) continue;
    if (code === CODE.singleQuote) {
      if (cursor.peek(1) !== CODE.singleQuote) break;
      parts.push(cursor.text.slice(start, cursor.offset + 1));
      cursor.skip(2);
      start = cursor.offset;
    } else cursor.skip();
  }
  parts.push(cursor.text.slice(start, cursor.offset));
  return false;
};

/** Like `scanSingle`; returns whether the text ended after a line break with a backslash before it. */
const scanDouble = (cursor: YamlCursor, parts: string[]): boolean => {
  let start = cursor.offset;
  const flush = () => parts.push(cursor.text.slice(start, cursor.offset));
  for (let code = cursor.peek(); !isBlankOrEnd(code) || skipInnerBlanks(cursor); code = cursor.peek()) {
    if (isBlank(code)) continue;
    if (code === CODE.doubleQuote) break;
    if (code !== CODE.backslash) {
      cursor.skip();
      continue;
    }
    flush();
    if (isBreak(cursor.peek(1))) {
      cursor.skip();
      cursor.skipBreak();
      return true;
    }
    parts.push(scanEscape(cursor));
    start = cursor.offset;
  }
  flush();
  return false;
};

const ESCAPES: Readonly<Record<string, string>> = {
  '0': '\0',
  a: '\x07',
  b: '\b',
  t: '\t',
  '\t': '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  e: '\x1B',
  ' ': ' ',
  '"': '"',
  "'": "'",
  '\\': '\\',
  // This escape is from JSON; YAML 1.1 does not have it.
  '/': '/',
  N: '\x85',
  _: '\xA0',
  L: '\u2028',
  P: '\u2029',
};
const HEX_LENGTH: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

const scanEscape = (cursor: YamlCursor): string => {
  const start = cursor.offset;
  const code = cursor.peek(1);
  const letter = Number.isNaN(code) ? '' : String.fromCharCode(code);
  const plain = ESCAPES[letter];
  if (plain !== undefined) {
    cursor.skip(2);
    return plain;
  }
  const length = HEX_LENGTH[letter];
  if (length === undefined) throw new YamlError(`the escape \\${letter} is not known`, start);
  const digits = cursor.text.slice(start + 2, Math.min(start + 2 + length, cursor.end));
  const value = digits.length === length && /^[0-9a-fA-F]+$/.test(digits) ? Number.parseInt(digits, 16) : Number.NaN;
  cursor.skip(2 + length);
  // JSON writes characters beyond 16 bits as two escapes; upstream's reader of JSON accepts these.
  if (Number.isNaN(value) || value > 0x10_ff_ff) {
    throw new YamlError(`the escape \\${letter} has to be followed by ${length} digits of a character`, start);
  }
  return String.fromCodePoint(value);
};

/** Reads a literal (`|`) or folded (`>`) scalar; `parentIndent` is the column of the collection around it. */
export const scanBlockScalar = (cursor: YamlCursor, parentIndent: number): string => {
  const start = cursor.offset;
  const isLiteral = cursor.peek() === CODE.bar;
  cursor.skip();
  const { chomping, increment } = scanBlockHeader(cursor, start);
  let indent = increment === 0 ? 0 : Math.max(parentIndent, 0) + increment;
  const parts: string[] = [];
  let leading = '';
  let startsBlank = false;
  const first = scanBlockBreaks(cursor, indent, parentIndent, start);
  indent = first.indent;
  let trailing = first.breaks;
  while (cursor.column === indent && !Number.isNaN(cursor.peek())) {
    const isBlankLine = isBlank(cursor.peek());
    const folds = !isLiteral && !startsBlank && !isBlankLine && leading === '\n';
    if (!folds) parts.push(leading);
    else if (trailing === '') parts.push(' ');
    parts.push(trailing);
    startsBlank = isBlankLine;
    const lineStart = cursor.offset;
    cursor.skipLine();
    parts.push(cursor.text.slice(lineStart, cursor.offset));
    leading = Number.isNaN(cursor.peek()) ? '' : cursor.skipBreak();
    trailing = scanBlockBreaks(cursor, indent, parentIndent, start).breaks;
  }
  if (chomping !== 'strip') parts.push(leading);
  if (chomping === 'keep') parts.push(trailing);
  return parts.join('');
};

interface BlockHeader {
  readonly chomping: 'clip' | 'strip' | 'keep';
  /** 0: not given. */
  readonly increment: number;
}

const scanBlockHeader = (cursor: YamlCursor, start: number): BlockHeader => {
  let chomping: BlockHeader['chomping'] = 'clip';
  let increment = 0;
  let hasChomping = false;
  for (let code = cursor.peek(); ; code = cursor.peek()) {
    if (!hasChomping && (code === CODE.plus || code === CODE.minus)) {
      chomping = code === CODE.plus ? 'keep' : 'strip';
      hasChomping = true;
    } else if (increment === 0 && isDigit(code)) {
      increment = code - CODE.zero;
      if (increment === 0) throw new YamlError('a block of text cannot be indented by 0', start);
    } else break;
    cursor.skip();
  }
  while (isBlank(cursor.peek())) cursor.skip();
  if (cursor.peek() === CODE.hash) cursor.skipLine();
  const code = cursor.peek();
  if (isBreak(code)) cursor.skipBreak();
  else if (!Number.isNaN(code)) throw new YamlError('a block of text has to begin on a new line', start);
  return { chomping, increment };
};

/**
 * Reads empty lines and the indentation of the next other line; finds the depth of the indentation if it is unknown.
 */
const scanBlockBreaks = (
  cursor: YamlCursor,
  indent: number,
  parentIndent: number,
  start: number,
): { readonly breaks: string; readonly indent: number } => {
  const breaks: string[] = [];
  let deepest = 0;
  const isWithin = () => indent === 0 || cursor.column < indent;
  for (;;) {
    while (isWithin() && cursor.peek() === CODE.space) cursor.skip();
    deepest = Math.max(deepest, cursor.column);
    if (isWithin() && cursor.peek() === CODE.tab) {
      throw new YamlError('a tab is used for the indentation of a block of text, where only spaces are allowed', start);
    }
    if (!isBreak(cursor.peek())) break;
    breaks.push(cursor.skipBreak());
  }
  return { breaks: breaks.join(''), indent: indent === 0 ? Math.max(deepest, parentIndent + 1, 1) : indent };
};
