/** The shortest list that gets an index: a shorter one is searched in less time. */
const INDEXED = 16;

type Index<Item> = ReadonlyMap<unknown, readonly [Item, ...Item[]]>;

const ofNames = new WeakMap<readonly unknown[], Index<unknown>>();
const ofIds = new WeakMap<readonly unknown[], Index<unknown>>();

interface Named {
  readonly name: string;
}

/**
 * Returns the items of a name in the order of the list. A long list gets an index at the first call: a pod may have thousands of
 * containers, and a search of the list for each of them takes the square of that time. The list must not change afterwards.
 */
export const allNamed = <Item extends Named>(items: readonly Item[], name: string): readonly Item[] =>
  items.length < INDEXED
    ? items.filter((item) => item.name === name)
    : (indexOf(ofNames, items, (item) => item.name).get(name) ?? []);

/** Returns the first item of a name; see `allNamed`. */
export const firstNamed = <Item extends Named>(items: readonly Item[], name: string): Item | undefined =>
  items.length < INDEXED
    ? items.find((item) => item.name === name)
    : indexOf(ofNames, items, (item) => item.name).get(name)?.[0];

/** Returns the first item of an id; see `allNamed`. */
export const firstWithId = <Item extends { readonly id: string }>(
  items: readonly Item[],
  id: string,
): Item | undefined =>
  items.length < INDEXED ? items.find((item) => item.id === id) : indexOf(ofIds, items, (item) => item.id).get(id)?.[0];

const indexOf = <Item>(
  indexes: WeakMap<readonly unknown[], Index<unknown>>,
  items: readonly Item[],
  keyOf: (item: Item) => string,
): Index<Item> => {
  const known = indexes.get(items) as Index<Item> | undefined;
  if (known) return known;
  const index = new Map<unknown, [Item, ...Item[]]>();
  for (const item of items) {
    const key = keyOf(item);
    const same = index.get(key);
    if (same) same.push(item);
    else index.set(key, [item]);
  }
  indexes.set(items, index);
  return index;
};
