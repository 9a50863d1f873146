/**
 * Returns the text of several errors: the text of the only one, or `[one, other]` with each text once.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/errors/errors.go aggregate.Error
 */
export const aggregateText = (texts: readonly string[]): string => {
  const distinct = [...new Set(texts)];
  return distinct.length === 1 ? distinct[0]! : `[${distinct.join(', ')}]`;
};

/** Throws one error with all texts, if there are any. */
export const throwAggregate = (texts: readonly string[]): void => {
  if (texts.length > 0) throw new Error(aggregateText(texts));
};
