import type { V1LabelSelector } from '@kubernetes/client-node';
import type { Json } from '../pod/pod.js';

export type LabelSelector = Json<V1LabelSelector>;

/** One condition on the value of a label. */
interface Requirement {
  readonly accepts: (value: string | undefined) => boolean;
  /** As the API writes it, such as `tier in (a,b)`. */
  readonly text: string;
}

/** A selector that can be asked. */
export interface LabelMatcher {
  readonly matches: (labels: Readonly<Record<string, string>>) => boolean;
  /** The length of the selector as the API writes it, in bytes. */
  readonly length: number;
}

/**
 * Returns the matcher of a selector: one without conditions matches everything, an absent one nothing.
 *
 * Errors: throws for an operator that does not exist, and for one without the values that it needs.
 * Source: staging/src/k8s.io/apimachinery/pkg/apis/meta/v1/helpers.go LabelSelectorAsSelector
 */
export const labelMatcher = (selector: LabelSelector | undefined): LabelMatcher => {
  if (!selector) return { matches: () => false, length: 0 };
  const { matchLabels = {}, matchExpressions = [] } = selector;
  const requirements: readonly (readonly [string, Requirement])[] = [
    ...Object.entries(matchLabels).map(
      ([key, wanted]) => [key, { accepts: (value?: string) => value === wanted, text: `${key}=${wanted}` }] as const,
    ),
    ...matchExpressions.map(({ key, operator, values }) => [key, requirement(key, operator, values ?? [])] as const),
  ];
  return {
    matches: (labels) =>
      requirements.every(([key, { accepts }]) => accepts(Object.hasOwn(labels, key) ? labels[key] : undefined)),
    length: Buffer.byteLength(requirements.map(([, { text }]) => text).join(',')),
  };
};

const requirement = (key: string, operator: string, values: readonly string[]): Requirement => {
  const isIn = (value: string | undefined): boolean => value !== undefined && values.includes(value);
  const list = `(${[...values].sort().join(',')})`;
  switch (operator) {
    case 'In':
      needsValues(values);
      return { accepts: isIn, text: `${key} in ${list}` };
    case 'NotIn':
      needsValues(values);
      return { accepts: (value) => !isIn(value), text: `${key} notin ${list}` };
    case 'Exists':
      return { accepts: (value) => value !== undefined, text: key };
    case 'DoesNotExist':
      return { accepts: (value) => value === undefined, text: `!${key}` };
    default:
      throw new Error(`${JSON.stringify(operator)} is not a valid label selector operator`);
  }
};

const needsValues = (values: readonly string[]): void => {
  if (values.length === 0)
    throw new Error("values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty");
};
