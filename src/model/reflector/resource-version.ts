/**
 * Whether the first of two resource versions is older (-1), the same (0) or newer (1); undefined where they cannot be compared,
 * such as where one of them is no number.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/resourceversion/resourceversion.go
 */
export const compareResourceVersions = (one: string, other: string): -1 | 0 | 1 | undefined => {
  if (!isNumber(one) || !isNumber(other)) return undefined;
  if (one === other) return 0;
  if (one.length !== other.length) return one.length < other.length ? -1 : 1;
  return one < other ? -1 : 1;
};

/** Versions outgrow a number of JavaScript, so they stay text. */
const isNumber = (version: string): boolean => /^[1-9][0-9]*$/.test(version);
