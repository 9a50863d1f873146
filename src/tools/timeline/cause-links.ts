import type { JournalId } from '../../model/journal/journal.js';
import { type Mark, marksOf, type Timeline, type TimelineEntry } from './lanes.js';

/** A mark that led to another, possibly through entries without a mark. */
export interface Link {
  readonly cause: Mark;
  readonly effect: Mark;
}

/** An index from entries to marks and from causes to effects. */
export interface CauseIndex {
  readonly entryOf: (id: JournalId) => TimelineEntry | undefined;
  /** The mark that represents the entry: the one with its id, else the first of its marks. */
  readonly markOf: (id: JournalId) => Mark | undefined;
  /** The entries that name this one as a cause. */
  readonly effectsOf: (id: JournalId) => readonly TimelineEntry[];
  /** The marks that led to one, transitively, and its direct effects. */
  readonly linksOf: (mark: Mark) => { readonly causes: readonly Link[]; readonly effects: readonly Link[] };
}

export const causeIndex = (timeline: Timeline): CauseIndex => {
  const entries = new Map(timeline.entries.map((entry) => [entry.id, entry]));
  const effects = new Map<JournalId, TimelineEntry[]>();
  for (const entry of timeline.entries) {
    for (const id of entry.causes) {
      const known = effects.get(id);
      if (known) known.push(entry);
      else effects.set(id, [entry]);
    }
  }
  const marks = new Map<JournalId, Mark>();
  for (const mark of marksOf(timeline)) {
    if (mark.entry === undefined) continue;
    if (!marks.has(mark.entry) || mark.id === mark.entry) marks.set(mark.entry, mark);
  }
  const effectsOf = (id: JournalId): readonly TimelineEntry[] => effects.get(id) ?? [];

  /** The nearest marks among the causes, through entries without a mark. */
  const nearest = (ids: readonly JournalId[], next: (id: JournalId) => readonly JournalId[]): readonly Mark[] => {
    const found = new Set<Mark>();
    const seen = new Set<JournalId>();
    const waiting = [...ids];
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      if (seen.has(id)) continue;
      seen.add(id);
      const mark = marks.get(id);
      if (mark) found.add(mark);
      else waiting.push(...next(id));
    }
    return [...found];
  };
  const causesOf = (mark: Mark): readonly Mark[] => nearest(mark.causes, (id) => entries.get(id)?.causes ?? []);

  return {
    entryOf: (id) => entries.get(id),
    markOf: (id) => marks.get(id),
    effectsOf,
    linksOf: (mark) => {
      const causes: Link[] = [];
      const waiting = [mark];
      const seen = new Set<Mark>(waiting);
      for (let effect = waiting.shift(); effect; effect = waiting.shift()) {
        for (const cause of causesOf(effect)) {
          causes.push({ cause, effect });
          if (!seen.has(cause)) waiting.push(cause);
          seen.add(cause);
        }
      }
      const ids = mark.entry === undefined ? [] : effectsOf(mark.entry).map(({ id }) => id);
      const led = nearest(ids, (id) => effectsOf(id).map((entry) => entry.id));
      return { causes, effects: led.filter((one) => one !== mark).map((effect) => ({ cause: mark, effect })) };
    },
  };
};
