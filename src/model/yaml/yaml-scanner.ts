import { scanBlockScalar, scanPlain, scanQuoted } from './scan-scalars.js';
import { scanAnchor, scanTag } from './scan-properties.js';
import { CODE, isBlank, isBlankOrEnd, isBreak } from './yaml-characters.js';
import { YamlCursor } from './yaml-cursor.js';
import { YamlError } from './yaml-error.js';
import { tooDeep, tooManyNodes, type YamlLimits } from './yaml-limits.js';
import type { YamlToken, YamlTokenKind } from './yaml-token.js';

/** The longest distance between a key without `?` and its colon, in characters; both are on one line. */
const LONGEST_KEY = 1024;

/**
 * The expected number of tokens. A field is a key, a colon and two scalars, with some ends of blocks; anchors and tags
 * are rare.
 */
const TOKENS_PER_NODE = 8;

/** A place that is a key if a colon follows. */
interface PossibleKey {
  readonly token: number;
  readonly offset: number;
  readonly column: number;
  readonly line: number;
  /** Only a key is valid at this place. */
  readonly isRequired: boolean;
}

/**
 * Scans the tokens of one document, `text` from `start` to `end`; the last one is `end`, or `error` with the problem.
 * The time is proportional to the text.
 *
 * Source: yaml.org/spec/1.1, as go-yaml reads it.
 */
export const scanYaml = (text: string, start: number, end: number, limits: YamlLimits): readonly YamlToken[] =>
  new Scanner(new YamlCursor(text, start, end), limits).scan();

class Scanner {
  readonly #cursor: YamlCursor;
  readonly #limits: YamlLimits;
  readonly #tokens: YamlToken[] = [];
  /** Columns of the block collections around the place. */
  readonly #indents: number[] = [];
  /** One for each flow collection around the place, and one for the blocks around these. */
  readonly #possibleKeys: (PossibleKey | undefined)[] = [undefined];
  #indent = -1;
  #mayBeginKey = true;
  #nodes = 0;

  constructor(cursor: YamlCursor, limits: YamlLimits) {
    this.#cursor = cursor;
    this.#limits = limits;
  }

  scan(): readonly YamlToken[] {
    try {
      while (this.#scanNext());
    } catch (error) {
      if (!(error instanceof YamlError)) throw error;
      this.#tokens.push({ kind: 'error', offset: error.offset, text: '', error });
    }
    return this.#tokens;
  }

  get #isInFlow(): boolean {
    return this.#possibleKeys.length > 1;
  }

  /** `{"a":1}` needs no blank after the colon. Without a key go-yaml refuses `[::1]`, which is read as text here. */
  get #hasFlowKey(): boolean {
    const key = this.#possibleKeys.at(-1);
    return this.#isInFlow && key !== undefined && this.#isInReach(key);
  }

  /** Returns false at the end of the document. */
  #scanNext(): boolean {
    const cursor = this.#cursor;
    this.#skipToToken();
    this.#closeBlocks(cursor.column);
    const code = cursor.peek();
    if (Number.isNaN(code)) {
      this.#closeBlocks(-1);
      this.#dropPossibleKey();
      this.#push('end', cursor.offset);
      return false;
    }
    if (cursor.column === 0 && code === CODE.percent) return this.#scanDirective();
    if (cursor.isAtDocumentMark(CODE.minus)) return this.#scanDocumentMark('document-start');
    if (cursor.isAtDocumentMark(CODE.dot)) return this.#scanDocumentMark('document-end');
    if (!this.#scanIndicator(code)) this.#scanScalar(code);
    return true;
  }

  #skipToToken(): void {
    const cursor = this.#cursor;
    for (;;) {
      for (let code = cursor.peek(); ; code = cursor.peek()) {
        const isTab = code === CODE.tab && (this.#isInFlow || !this.#mayBeginKey);
        if (code !== CODE.space && !isTab) break;
        cursor.skip();
      }
      if (cursor.peek() === CODE.hash) cursor.skipLine();
      if (!isBreak(cursor.peek())) return;
      cursor.skipBreak();
      if (!this.#isInFlow) this.#mayBeginKey = true;
    }
  }

  #scanDirective(): true {
    const { offset } = this.#cursor;
    this.#closeBlocks(-1);
    this.#dropPossibleKey();
    this.#mayBeginKey = false;
    this.#cursor.skipLine();
    this.#push('directive', offset, this.#cursor.text.slice(offset, this.#cursor.offset));
    return true;
  }

  #scanDocumentMark(kind: YamlTokenKind): true {
    this.#closeBlocks(-1);
    this.#dropPossibleKey();
    this.#mayBeginKey = false;
    this.#push(kind, this.#cursor.offset);
    this.#cursor.skip(3);
    return true;
  }

  #scanIndicator(code: number): boolean {
    const next = this.#cursor.peek(1);
    const isAlone = isBlankOrEnd(next);
    if (code === CODE.openBracket) this.#openFlow('flow-sequence-start');
    else if (code === CODE.openBrace) this.#openFlow('flow-mapping-start');
    else if (code === CODE.closeBracket) this.#closeFlow('flow-sequence-end');
    else if (code === CODE.closeBrace) this.#closeFlow('flow-mapping-end');
    else if (code === CODE.comma) this.#separateFlow();
    else if (code === CODE.minus && isAlone) this.#beginItem();
    else if (code === CODE.question && (this.#isInFlow || isAlone)) this.#beginKey();
    else if (code === CODE.colon && (isAlone || this.#hasFlowKey)) this.#beginValue();
    else return false;
    return true;
  }

  #scanScalar(code: number): void {
    const cursor = this.#cursor;
    const { offset } = cursor;
    if (!this.#isInFlow && (code === CODE.bar || code === CODE.greater)) {
      this.#dropPossibleKey();
      this.#mayBeginKey = true;
      this.#push('quoted', offset, scanBlockScalar(cursor, this.#indent));
      return;
    }
    if (!canBegin(code, cursor.peek(1), this.#isInFlow)) throw new YamlError(wrongBeginning(code), offset);
    this.#rememberKey();
    this.#mayBeginKey = false;
    if (code === CODE.asterisk) this.#push('alias', offset, scanAnchor(cursor));
    else if (code === CODE.ampersand) this.#push('anchor', offset, scanAnchor(cursor));
    else if (code === CODE.exclamation) this.#push('tag', offset, scanTag(cursor));
    else if (code === CODE.singleQuote || code === CODE.doubleQuote) this.#push('quoted', offset, scanQuoted(cursor));
    else {
      const { text, endsLine } = scanPlain(cursor, this.#indent + 1, this.#isInFlow);
      this.#push('plain', offset, text);
      if (endsLine) this.#mayBeginKey = true;
    }
  }

  #openFlow(kind: YamlTokenKind): void {
    this.#rememberKey();
    this.#possibleKeys.push(undefined);
    this.#checkDepth();
    this.#mayBeginKey = true;
    this.#indicator(kind);
  }

  #closeFlow(kind: YamlTokenKind): void {
    this.#dropPossibleKey();
    if (this.#isInFlow) this.#possibleKeys.pop();
    this.#mayBeginKey = false;
    this.#indicator(kind);
  }

  #separateFlow(): void {
    this.#dropPossibleKey();
    this.#mayBeginKey = true;
    this.#count();
    this.#indicator('flow-entry');
  }

  #beginItem(): void {
    if (!this.#isInFlow) {
      this.#needsKeyPlace('an item of a list may not stand here');
      this.#openBlock('block-sequence-start', this.#cursor.column);
    }
    this.#dropPossibleKey();
    this.#mayBeginKey = true;
    this.#count();
    this.#indicator('block-entry');
  }

  #beginKey(): void {
    if (!this.#isInFlow) {
      this.#needsKeyPlace('a key may not stand here');
      this.#openBlock('block-mapping-start', this.#cursor.column);
    }
    this.#dropPossibleKey();
    this.#mayBeginKey = !this.#isInFlow;
    this.#count();
    this.#indicator('key');
  }

  #beginValue(): void {
    const key = this.#possibleKeys.at(-1);
    if (key && this.#isInReach(key)) {
      // The key is at most its longest length back, so that few tokens move.
      this.#tokens.splice(key.token, 0, { kind: 'key', offset: key.offset, text: '' });
      this.#openBlock('block-mapping-start', key.column, key);
      this.#possibleKeys[this.#possibleKeys.length - 1] = undefined;
      this.#mayBeginKey = false;
    } else {
      if (key?.isRequired) throw withoutColon(key);
      if (!this.#isInFlow) {
        this.#needsKeyPlace('a colon may not stand here: a value has begun already, which perhaps needs quotes');
        this.#openBlock('block-mapping-start', this.#cursor.column);
      }
      this.#mayBeginKey = !this.#isInFlow;
    }
    this.#count();
    this.#indicator('value');
  }

  #isInReach({ line, offset }: PossibleKey): boolean {
    return line === this.#cursor.line && this.#cursor.offset <= offset + LONGEST_KEY;
  }

  #rememberKey(): void {
    if (!this.#mayBeginKey) return;
    this.#dropPossibleKey();
    const { offset, column, line } = this.#cursor;
    const isRequired = !this.#isInFlow && this.#indent === column;
    this.#possibleKeys[this.#possibleKeys.length - 1] = {
      token: this.#tokens.length,
      offset,
      column,
      line,
      isRequired,
    };
  }

  #dropPossibleKey(): void {
    const key = this.#possibleKeys.at(-1);
    if (key?.isRequired) throw withoutColon(key);
    this.#possibleKeys[this.#possibleKeys.length - 1] = undefined;
  }

  #needsKeyPlace(message: string): void {
    if (!this.#mayBeginKey) throw new YamlError(message, this.#cursor.offset);
  }

  /**
   * Begins a block collection unless the place is in one of that column. `before` is the first token of the collection.
   */
  #openBlock(kind: YamlTokenKind, column: number, before?: PossibleKey): void {
    if (this.#isInFlow || this.#indent >= column) return;
    this.#indents.push(this.#indent);
    this.#indent = column;
    this.#checkDepth();
    if (before) this.#tokens.splice(before.token, 0, { kind, offset: before.offset, text: '' });
    else this.#push(kind, this.#cursor.offset);
  }

  #closeBlocks(column: number): void {
    if (this.#isInFlow) return;
    while (this.#indent > column) {
      this.#push('block-end', this.#cursor.offset);
      this.#indent = this.#indents.pop() ?? -1;
    }
  }

  #checkDepth(): void {
    if (this.#indents.length + this.#possibleKeys.length - 1 <= this.#limits.depth) return;
    throw new YamlError(tooDeep(this.#limits), this.#cursor.offset);
  }

  #count(): void {
    this.#nodes += 1;
    if (this.#nodes <= this.#limits.nodes) return;
    throw new YamlError(tooManyNodes(this.#limits), this.#cursor.offset);
  }

  #indicator(kind: YamlTokenKind): void {
    this.#push(kind, this.#cursor.offset);
    this.#cursor.skip();
  }

  #push(kind: YamlTokenKind, offset: number, text = ''): void {
    // Adjacent texts are invalid; the parser reports it.
    if (this.#tokens.length > TOKENS_PER_NODE * this.#limits.nodes) {
      throw new YamlError(tooManyNodes(this.#limits), offset);
    }
    this.#tokens.push({ kind, offset, text });
  }
}

const withoutColon = ({ offset }: PossibleKey): YamlError =>
  new YamlError('a key without its colon: the ":" has to follow on the same line', offset);

const NEVER_FIRST = new Set<number>([
  CODE.minus,
  CODE.question,
  CODE.colon,
  CODE.hash,
  CODE.bar,
  CODE.greater,
  CODE.percent,
  CODE.at,
  CODE.backtick,
]);

const canBegin = (code: number, next: number, isInFlow: boolean): boolean => {
  if (isBlankOrEnd(code)) return false;
  if (!NEVER_FIRST.has(code)) return true;
  if (code === CODE.minus) return !isBlank(next);
  if (code === CODE.colon) return !isBlankOrEnd(next) && !(isInFlow && endsFlow(next));
  return !isInFlow && code === CODE.question && !isBlankOrEnd(next);
};

const endsFlow = (code: number): boolean =>
  code === CODE.comma || code === CODE.closeBracket || code === CODE.closeBrace;

const wrongBeginning = (code: number): string =>
  code === CODE.tab
    ? 'tabs are not allowed as indentation'
    : `a value cannot begin with ${JSON.stringify(String.fromCharCode(code))} unless it is in quotes`;
