const LONGEST_NAME = 100;

/**
 * Returns the known name that `name` most likely stands for: the same letters in another case, or at most two typing
 * errors.
 */
export const closestName = (name: string, known: readonly string[]): string | undefined => {
  // The comparison takes time that grows with the name, and no field has a name of that length.
  if (name.length > LONGEST_NAME) return undefined;
  const sameLetters = known.find((candidate) => candidate.toLowerCase() === name.toLowerCase());
  if (sameLetters !== undefined) return sameLetters;
  const limit = name.length < 5 ? 1 : 2;
  return known
    .map((candidate) => ({ candidate, distance: editDistance(name, candidate) }))
    .filter(({ distance }) => distance <= limit)
    .sort((one, other) => one.distance - other.distance)[0]?.candidate;
};

/** The number of insertions, deletions, replacements and swaps of neighbours between two words. */
const editDistance = (from: string, to: string): number => {
  let beforeLast: number[] = [];
  let last = Array.from({ length: to.length + 1 }, (_, index) => index);
  for (let row = 1; row <= from.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= to.length; column += 1) {
      const isSame = from[row - 1] === to[column - 1];
      const replaced = last[column - 1]! + (isSame ? 0 : 1);
      let best = Math.min(replaced, last[column]! + 1, current[column - 1]! + 1);
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        best = Math.min(best, beforeLast[column - 2]! + 1);
      }
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[to.length]!;
};
