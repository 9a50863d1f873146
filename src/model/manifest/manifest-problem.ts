/** A problem at one place in a manifest. Positions count from 1. */
export interface ManifestProblem {
  readonly file: string;
  /** The position of the document in the file. */
  readonly document: number;
  readonly line: number;
  readonly column: number;
  /** The field, such as `spec.containers[0].image`; empty for the document as a whole. */
  readonly field: string;
  readonly message: string;
  /** A description of the valid value, the rest of "expected …". */
  readonly expected?: string;
}

/** `pods/web.yaml:12:9: spec.containers[0].image: is missing (expected …)`. */
export const formatManifestProblem = ({ file, line, column, field, message, expected }: ManifestProblem): string =>
  [
    `${file}:${line}:${column}: `,
    field === '' ? '' : `${field}: `,
    message,
    expected === undefined ? '' : ` (expected ${expected})`,
  ].join('');
