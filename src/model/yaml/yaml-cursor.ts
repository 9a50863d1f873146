import { CODE, isBlankOrEnd, isBreak } from './yaml-characters.js';

/** A position in a text, which moves forward only. */
export class YamlCursor {
  lineStart: number;
  /** The number of line breaks before the position. */
  line = 0;

  constructor(
    readonly text: string,
    /** The next character. */
    offset: number,
    /** The end of the range that is read. */
    readonly end: number,
  ) {
    this.#offset = offset;
    this.lineStart = offset;
  }

  #offset: number;

  get offset(): number {
    return this.#offset;
  }

  get column(): number {
    return this.#offset - this.lineStart;
  }

  /** The code at the offset `ahead`; NaN at the end. */
  peek(ahead = 0): number {
    const at = this.#offset + ahead;
    return at < this.end ? this.text.charCodeAt(at) : Number.NaN;
  }

  /** Within the line. */
  skip(count = 1): void {
    this.#offset += count;
  }

  /** Moves over one line break; returns its text in a scalar. */
  skipBreak(): string {
    const code = this.peek();
    this.#offset += code === CODE.carriageReturn && this.peek(1) === CODE.lineFeed ? 2 : 1;
    this.lineStart = this.#offset;
    this.line += 1;
    return code === CODE.lineSeparator || code === CODE.paragraphSeparator ? String.fromCharCode(code) : '\n';
  }

  /** Moves to the end of the line. */
  skipLine(): void {
    let at = this.#offset;
    while (at < this.end && !isBreak(this.text.charCodeAt(at))) at += 1;
    this.#offset = at;
  }

  /** Whether the line is `---` or `...`. */
  isAtDocumentMark(mark: number): boolean {
    return (
      this.column === 0 &&
      this.peek() === mark &&
      this.peek(1) === mark &&
      this.peek(2) === mark &&
      isBlankOrEnd(this.peek(3))
    );
  }

  isAtAnyDocumentMark(): boolean {
    return this.isAtDocumentMark(CODE.minus) || this.isAtDocumentMark(CODE.dot);
  }
}
