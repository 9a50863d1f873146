import type { YamlError } from './yaml-error.js';

export type YamlTokenKind =
  | 'document-start'
  | 'document-end'
  | 'directive'
  | 'block-sequence-start'
  | 'block-mapping-start'
  | 'block-end'
  | 'block-entry'
  | 'flow-sequence-start'
  | 'flow-sequence-end'
  | 'flow-mapping-start'
  | 'flow-mapping-end'
  | 'flow-entry'
  | 'key'
  | 'value'
  | 'alias'
  | 'anchor'
  | 'tag'
  | 'plain'
  | 'quoted'
  | 'end'
  | 'error';

export interface YamlToken {
  readonly kind: YamlTokenKind;
  readonly offset: number;
  /** The text of a scalar; the name of an anchor, alias, tag or directive. */
  readonly text: string;
  /** The reason of an `error` token. */
  readonly error?: YamlError;
}
