/** The variables of an env file up to its end or its first problem. */
export interface EnvFileText {
  /** The first value of each name. */
  readonly values: ReadonlyMap<string, string>;
  /** The line and the rule that it breaks, without any text of the file. The lines after it are not read. */
  readonly problem?: string;
}

const MAX_LINE_BYTES = 65_535;

/**
 * Reads an env file, a subset of the assignments of a POSIX shell, in UTF-8:
 *
 * - `NAME='value'`: the value is in single quotes and is taken literally; it may span lines.
 * - A comment, `# …`, is a line of its own or follows the closing quote. Blank lines and blanks before a name are ignored.
 * - A blank after `=` assigns the empty text, and the rest of the line is ignored.
 * - A line that ends with CR LF counts as ending with LF. A line has at most 65535 bytes.
 *
 * Everything else is a problem: a blank before `=`, a missing name, a value in other quotes or in none, text behind the
 * closing quote, a missing closing quote.
 *
 * Source: pkg/kubelet/util/env/env_util.go ParseEnv
 */
export const parseEnvFile = (content: Uint8Array): EnvFileText => {
  const values = new Map<string, string>();
  const text = decoded(content);
  if (text === undefined) return { values, problem: 'the file is not UTF-8 text' };
  const long = startOfLongLine(text);
  const problem = scan(long === undefined ? text : text.slice(0, long), values);
  if (long !== undefined && (!problem || problem.rule === UNCLOSED))
    return { values, problem: `line ${lineNumber(text, long)} is longer than ${MAX_LINE_BYTES} bytes` };
  return { values, ...(problem && { problem: `line ${lineNumber(text, problem.at)}: ${problem.rule}` }) };
};

/** A place in the text, and the rule that it breaks. */
interface Problem {
  readonly at: number;
  readonly rule: string;
}

interface Assignment {
  readonly name: string;
  readonly value: string;
  /** The beginning of the next line. */
  readonly next: number;
}

const UNCLOSED = 'expected a closing single quote';

// A file may have a quarter of a million lines, so each costs only a few calls.
const scan = (text: string, values: Map<string, string>): Problem | undefined => {
  for (let at = skipBlanks(text, 0); at < text.length; at = skipBlanks(text, at)) {
    const end = endOfLine(text, at);
    if (text[at] === '#') {
      at = end;
      continue;
    }
    const found = assignment(text, at, end);
    if ('rule' in found) return found;
    if (!values.has(found.name)) values.set(found.name, found.value);
    at = found.next;
  }
  return undefined;
};

const assignment = (text: string, at: number, end: number): Assignment | Problem => {
  const line = text.slice(at, withoutReturn(text, end));
  const equals = line.indexOf('=');
  if (equals === -1) return { at, rule: `expected NAME='value', found no "="` };
  const name = line.slice(0, equals);
  if (name === '') return { at, rule: 'expected a name before "="' };
  if (isBlank(name.at(-1))) return { at, rule: 'expected no blank before "="' };
  if (isBlank(line[equals + 1])) return { name, value: '', next: end };
  if (line[equals + 1] !== "'") return { at, rule: 'expected a value in single quotes' };
  const from = at + equals + 2;
  const close = text.indexOf("'", from);
  if (close === -1) return { at, rule: UNCLOSED };
  const next = endOfLine(text, close);
  if (!/^[ \t]*(#.*)?$/s.test(text.slice(close + 1, withoutReturn(text, next))))
    return { at: close, rule: 'expected nothing but a comment after the closing quote' };
  return { name, value: text.slice(from, close).replaceAll('\r\n', '\n'), next };
};

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

/** Returns the next place that is neither a blank nor a line end. */
const skipBlanks = (text: string, from: number): number => {
  for (let at = from; at < text.length; at += 1) {
    const character = text[at];
    if (isBlank(character) || character === '\n') continue;
    const isReturn = character === '\r' && (at + 1 === text.length || text[at + 1] === '\n');
    if (!isReturn) return at;
  }
  return text.length;
};

const endOfLine = (text: string, from: number): number => {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
};

const withoutReturn = (text: string, end: number): number => (text[end - 1] === '\r' ? end - 1 : end);

/** A line with fewer characters cannot be too long. */
const SURELY_SHORT = Math.floor(MAX_LINE_BYTES / 3);

const startOfLongLine = (text: string): number | undefined => {
  for (let at = 0; text.length - at > SURELY_SHORT;) {
    // All lines up to here are short.
    const newline = text.lastIndexOf('\n', at + SURELY_SHORT);
    if (newline < at) {
      const end = endOfLine(text, at);
      if (Buffer.byteLength(text.slice(at, end)) > MAX_LINE_BYTES) return at;
      at = end + 1;
    } else at = newline + 1;
  }
  return undefined;
};

const lineNumber = (text: string, at: number): number => {
  let number = 1;
  for (let end = text.indexOf('\n'); end !== -1 && end < at; end = text.indexOf('\n', end + 1)) number += 1;
  return number;
};

const decoded = (content: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    return undefined;
  }
};
