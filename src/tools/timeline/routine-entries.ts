import type { JournalEntry, JournalId } from '../../model/journal/journal.js';
import type { EntryOf } from '../why/pod-story.js';

/** The entries of a pod that only repeat known facts, or had no effect. */
export interface Routine {
  /** Entries without news: timers, a repeated back-off, a repeated event. */
  readonly entries: ReadonlySet<JournalId>;
  /** Syncs of the worker with only such results. */
  readonly passes: ReadonlySet<JournalId>;
}

export const routineOf = (own: readonly JournalEntry[]): Routine => {
  const entries = repeatedEntries(own);
  const byId = new Map(own.map((entry) => [entry.id, entry]));
  const active = new Set<JournalId>();
  const markActive = (id: JournalId): void => {
    const entry = byId.get(id);
    if (!entry || active.has(id)) return;
    active.add(id);
    if (entry.kind !== 'sync-started') entry.causes.forEach(markActive);
  };
  const failedForNoReason = new Set(own.flatMap((entry) => (isFailedPass(entry) ? entry.causes : [])));
  for (const entry of own) {
    const isMachinery = ['sync-started', 'sync-ended', 'actions'].includes(entry.kind);
    if (isMachinery || entries.has(entry.id)) continue;
    entry.causes.forEach(markActive);
  }
  // The error of a sync is no news if its reason is a back-off, which is none either.
  for (const entry of own) {
    if (entry.kind === 'back-off') for (const id of ancestors(entry, byId)) failedForNoReason.delete(id);
  }
  const passes = own.filter(
    (entry) =>
      entry.kind === 'sync-started' &&
      entry.work === 'sync' &&
      !active.has(entry.id) &&
      !failedForNoReason.has(entry.id),
  );
  return { entries, passes: new Set(passes.map(({ id }) => id)) };
};

const isFailedPass = (entry: JournalEntry): boolean => entry.kind === 'sync-ended' && entry.error !== undefined;

/** The entries that led to one, up to the sync of the worker. */
export const ancestors = (entry: JournalEntry, byId: ReadonlyMap<JournalId, JournalEntry>): ReadonlySet<JournalId> => {
  const found = new Set<JournalId>();
  const waiting = [...entry.causes];
  for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
    const cause = byId.get(id);
    if (!cause || found.has(id)) continue;
    found.add(id);
    if (cause.kind !== 'sync-started') waiting.push(...cause.causes);
  }
  return found;
};

const repeatedEntries = (own: readonly JournalEntry[]): ReadonlySet<JournalId> => {
  const repeated = new Set<JournalId>();
  const backOffs = new Map<string, EntryOf<'back-off'>>();
  const events = new Map<string, string>();
  for (const entry of own) {
    const container = entry.container ?? '';
    if (entry.kind === 'work-due') repeated.add(entry.id);
    if (entry.kind === 'back-off') {
      const key = `${entry.subject} ${container}`;
      if (backOffs.get(key)?.until === entry.until) repeated.add(entry.id);
      backOffs.set(key, entry);
    }
    if (entry.kind === 'event') {
      const key = `${entry.reason} ${container}`;
      if (events.get(key) === entry.message) repeated.add(entry.id);
      events.set(key, entry.message);
    }
    // After a start or end of the container, the same message is news again.
    if (entry.kind === 'runtime-changed' && entry.change !== 'ContainerRemoved') events.clear();
  }
  return repeated;
};
