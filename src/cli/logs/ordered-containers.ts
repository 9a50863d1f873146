import type { JournalEntry } from '../../model/journal/journal.js';
import type { NamedContainers } from '../../model/logs/choose-container.js';

type Lists = Pick<NamedContainers, 'regular' | 'init' | 'ephemeral'>;

const LISTS: Readonly<Record<string, keyof Lists>> = { 'start-init': 'init', 'start-ephemeral': 'ephemeral' };

/**
 * Sorts the containers of a pod whose spec is not available into the lists of its spec, by their first starts in the
 * journal. A container without a start in the journal comes last, with the regular ones.
 */
export const orderedContainers = (names: readonly string[], entries: readonly JournalEntry[], uid: string): Lists => {
  const listOf = new Map<string, keyof Lists>();
  for (const entry of entries) {
    if (entry.kind !== 'actions' || entry.pod?.uid !== uid) continue;
    for (const { action, container } of entry.actions) {
      if (container === undefined || listOf.has(container) || !action.startsWith('start')) continue;
      listOf.set(container, LISTS[action] ?? 'regular');
    }
  }
  const started = [...listOf.keys()].filter((name) => names.includes(name));
  const others = names.filter((name) => !listOf.has(name)).toSorted();
  const inList = (list: keyof Lists): readonly string[] =>
    [...started, ...others].filter((name) => (listOf.get(name) ?? 'regular') === list);
  return { regular: inList('regular'), init: inList('init'), ephemeral: inList('ephemeral') };
};
