import type { YamlMapping, YamlNode } from './yaml-node.js';
import { isMergeKey, keyName } from './yaml-value.js';

interface Entry {
  readonly key: YamlNode;
  readonly value: YamlNode;
}

/** Follows the path to the deepest node of the tree that exists; returns the position of the value or of its key. */
export const locateYaml = (root: YamlNode, path: readonly (string | number)[], atKey: boolean): number => {
  let node: YamlNode = root;
  let { offset } = root;
  for (const [depth, part] of path.entries()) {
    const inner: YamlNode = node.kind === 'alias' ? node.target : node;
    if (inner.kind === 'mapping') {
      const entry = entriesOf(inner).get(String(part));
      if (!entry) return offset;
      node = entry.value;
      const isLast = depth === path.length - 1;
      // An empty value has no visible position of its own.
      offset = (isLast && atKey) || isEmpty(node) ? entry.key.offset : node.offset;
    } else if (inner.kind === 'sequence' && typeof part === 'number') {
      const item: YamlNode | undefined = inner.items[part];
      if (!item) return offset;
      node = item;
      ({ offset } = node);
    } else return offset;
  }
  return offset;
};

const isEmpty = (node: YamlNode): boolean => node.kind === 'scalar' && node.isPlain && node.text === '';

/** Created on first use, since most mappings have no issue. */
const known = new WeakMap<YamlMapping, ReadonlyMap<string, Entry>>();

const entriesOf = (mapping: YamlMapping): ReadonlyMap<string, Entry> => {
  const before = known.get(mapping);
  if (before) return before;
  const entries = new Map<string, Entry>();
  for (const [index, key] of mapping.keys.entries()) {
    const value = mapping.values[index]!;
    if (!isMergeKey(key)) entries.set(keyName(key), { key, value });
    else for (const [name, entry] of mergedEntries(value)) entries.set(name, entry);
  }
  known.set(mapping, entries);
  return entries;
};

const mergedEntries = (node: YamlNode): readonly (readonly [string, Entry])[] => {
  const sources = node.kind === 'sequence' ? node.items.toReversed() : [node];
  return sources.flatMap((source) => {
    const mapping = source.kind === 'alias' ? source.target : source;
    return mapping.kind === 'mapping' ? [...entriesOf(mapping)] : [];
  });
};
