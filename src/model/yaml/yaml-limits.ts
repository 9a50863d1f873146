/** The limits of a text. A text beyond a limit is refused at the place where it crosses it, and none of it is built. */
export interface YamlLimits {
  /** The depth of nested collections. */
  readonly depth: number;
  /** Fields and list items of a document; copies by aliases have a limit of the same size. */
  readonly nodes: number;
  /** Characters of all copies by aliases. */
  readonly characters: number;
}

/** A pod has some hundred fields, and a node some hundred pods. */
export const YAML_LIMITS: YamlLimits = { depth: 100, nodes: 100_000, characters: 10 * 1024 * 1024 };

export const tooManyNodes = ({ nodes }: YamlLimits): string => `holds more than ${nodes} fields and list items`;

export const tooDeep = ({ depth }: YamlLimits): string => `is nested deeper than ${depth} levels`;
