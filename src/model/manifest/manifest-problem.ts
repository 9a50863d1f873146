/** One thing wrong with one place in a manifest. Positions count from 1. */
export interface ManifestProblem {
  readonly file: string;
  /** Which document of the file. */
  readonly document: number;
  readonly line: number;
  readonly column: number;
  /** Such as `spec.containers[0].image`; empty when the document as a whole is meant. */
  readonly field: string;
  readonly message: string;
  /** What would have been right, as the rest of "expected …". */
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
