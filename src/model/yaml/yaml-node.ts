export interface YamlScalar {
  readonly kind: 'scalar';
  readonly offset: number;
  readonly text: string;
  /** The resolved tag; empty without a tag. */
  readonly tag: string;
  /** Without quotes and tag, so that the scalar may be of another type than text. */
  readonly isPlain: boolean;
}

export interface YamlSequence {
  readonly kind: 'sequence';
  readonly offset: number;
  readonly items: YamlNode[];
}

export interface YamlMapping {
  readonly kind: 'mapping';
  readonly offset: number;
  /** In the order of the text; the value of `keys[i]` is `values[i]`. */
  readonly keys: YamlNode[];
  readonly values: YamlNode[];
}

export interface YamlAlias {
  readonly kind: 'alias';
  readonly offset: number;
  readonly name: string;
  readonly target: Exclude<YamlNode, YamlAlias>;
}

export type YamlNode = YamlScalar | YamlSequence | YamlMapping | YamlAlias;

export const emptyScalar = (offset: number): YamlScalar => ({
  kind: 'scalar',
  offset,
  text: '',
  tag: '',
  isPlain: true,
});
