/** Where in a document: field names and list positions from the top. */
export type FieldPath = readonly (string | number)[];

/** One thing wrong with one field, before it has a place in a file. */
export interface FieldIssue {
  readonly path: FieldPath;
  readonly message: string;
  /** What would have been right, as the rest of "expected …". */
  readonly expected?: string;
  /** Whether the name of the field is what is wrong, rather than what it holds. */
  readonly atKey?: boolean;
}

export const issue = (path: FieldPath, message: string, expected?: string): FieldIssue => ({
  path,
  message,
  ...(expected === undefined ? {} : { expected }),
});

/** `spec.containers[0].ports[1].hostPort`; keys that are not plain names stand in brackets and quotes. */
export const formatFieldPath = (path: FieldPath): string =>
  path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    if (!/^[A-Za-z_$][\w$-]*$/.test(part)) return `${text}[${JSON.stringify(part)}]`;
    return text === '' ? part : `${text}.${part}`;
  }, '');
