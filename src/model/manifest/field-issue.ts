import { cutQuotes } from './cut-quotes.js';

/** A place in a document: field names and list positions from the top. */
export type FieldPath = readonly (string | number)[];

/** An issue of one field, before it has a position in a file. */
export interface FieldIssue {
  readonly path: FieldPath;
  readonly message: string;
  /** A description of the valid value, the rest of "expected …". */
  readonly expected?: string;
  /** Whether the issue is about the field's name instead of its value. */
  readonly atKey?: boolean;
}

export const issue = (path: FieldPath, message: string, expected?: string): FieldIssue => ({
  path,
  message,
  ...(expected === undefined ? {} : { expected }),
});

const LONGEST_KEY = 60;

/** Formats a path as `spec.containers[0].ports[1].hostPort`; other keys than plain names are in brackets and quotes. */
export const formatFieldPath = (path: FieldPath): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (part.length > LONGEST_KEY || !/^[A-Za-z_$][\w$-]*$/.test(part)) {
      return `${text}[${cutQuotes(JSON.stringify(part))}]`;
    }
    return text === '' ? part : `${text}.${part}`;
  }, '');
