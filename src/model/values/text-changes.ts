/** The difference between two lists of texts. */
export interface TextChanges {
  /** The texts that only the later list has, in its order. */
  readonly added: readonly string[];
  /** The texts that only the earlier list has, in its order. */
  readonly removed: readonly string[];
}

/** Compares two lists of texts; their order does not count. */
export const textChanges = (before: readonly string[], after: readonly string[]): TextChanges => {
  const [had, has] = [new Set(before), new Set(after)];
  return { added: after.filter((text) => !had.has(text)), removed: before.filter((text) => !has.has(text)) };
};
