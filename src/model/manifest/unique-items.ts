/** The items of one file. */
export interface FileItems<Item> {
  readonly file: string;
  readonly items: readonly Item[];
  /** The file may have been removed; its absence is not confirmed. */
  readonly isInDoubt: boolean;
}

/** An item that is not used, because another one has the same key. */
export interface DuplicateItem<Item> {
  readonly item: Item;
  readonly file: string;
  /** The first of its keys that another item has. */
  readonly key: string;
  /** The file of the item that is used; it may be the same file. */
  readonly winner: string;
  /** The key may become free when the absence is confirmed. */
  readonly isWinnerInDoubt: boolean;
}

/**
 * Returns the items of files, each key once: the first item in the order of the files is used. While the absence of a
 * file is not confirmed, its items of the set before keep their keys, so that a renamed file does not replace its item
 * at once; other items with these keys wait for the confirmation.
 */
export const uniqueItems = <Item>(
  files: readonly FileItems<Item>[],
  before: readonly Item[],
  keysOf: (item: Item) => readonly string[],
): { readonly items: readonly Item[]; readonly duplicates: readonly DuplicateItem<Item>[] } => {
  const wasIn = new Set(before);
  const entries = files.flatMap(({ file, items, isInDoubt }) => items.map((item) => ({ item, file, isInDoubt })));
  const doubted = entries.filter(({ item, isInDoubt }) => isInDoubt && wasIn.has(item));
  const owners = new Map<string, (typeof entries)[number]>();
  const winners = new Set<(typeof entries)[number]>();
  const duplicates: DuplicateItem<Item>[] = [];
  for (const entry of [...doubted, ...entries.filter(({ isInDoubt }) => !isInDoubt)]) {
    const keys = keysOf(entry.item);
    const key = keys.find((one) => owners.has(one));
    if (key === undefined) {
      winners.add(entry);
      for (const one of keys) owners.set(one, entry);
      continue;
    }
    const { item, file } = entry;
    const owner = owners.get(key)!;
    duplicates.push({ item, file, key, winner: owner.file, isWinnerInDoubt: owner.isInDoubt });
  }
  return { items: entries.filter((entry) => winners.has(entry)).map(({ item }) => item), duplicates };
};
