import type { JournalId } from '../../../model/journal/journal.js';
import type { PodRef } from '../../../model/pod/pod.js';
import type { Plain, RecordingEntry } from '../entries/recording-entry.js';
import type { Parting } from './replay-cursor.js';
import type { ReplayedCause } from './replay-result.js';

/** Finds the journal entries that led to a place in a recording. */
export class CauseFinder {
  readonly #journal = new Map<JournalId, ReplayedCause>();
  /** The newest of each pod; of the node under the empty UID. */
  readonly #newest = new Map<string, ReplayedCause>();
  #ofStep: ReplayedCause | undefined;

  /** Called for every entry of the replay, in order. */
  see(entry: RecordingEntry, number: number, atMs: number): void {
    if ('at' in entry) this.#ofStep = undefined;
    if (entry.kind !== 'journal') return;
    const cause: ReplayedCause = { entry: number, id: entry.id, atMs, record: entry.record };
    this.#journal.set(entry.id, cause);
    this.#newest.set(entry.record.pod?.uid ?? '', cause);
    this.#ofStep = cause;
  }

  /**
   * Returns the entries that the first different output names, else the last ones about its pod, with all of their
   * causes; the oldest first.
   */
  before({ expected, actual }: Parting, pod: PodRef | undefined): readonly ReplayedCause[] {
    const named = [...causesIn(actual), ...causesIn(expected)].filter((id) => this.#journal.has(id));
    const last = pod ? this.#newest.get(pod.uid) : this.#ofStep;
    const found = new Map<JournalId, ReplayedCause>();
    const waiting = named.length > 0 ? named : last ? [last.id] : [];
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
      const cause = this.#journal.get(id);
      if (!cause || found.has(id)) continue;
      found.set(id, cause);
      waiting.push(...cause.record.causes);
    }
    return [...found.values()].sort((one, other) => one.entry - other.entry);
  }
}

/** The ids that a journal entry, an event or an outcome names. */
const causesIn = (entry: RecordingEntry | undefined): readonly JournalId[] => {
  if (entry?.kind === 'journal') return entry.record.causes;
  if (entry?.kind === 'outcome') {
    const { journalId } = entry.outcome as { readonly journalId?: Plain };
    return typeof journalId === 'string' ? [journalId] : [];
  }
  if (entry?.kind !== 'told') return [];
  const { causes } = (entry.args[0] ?? {}) as { readonly causes?: Plain };
  return Array.isArray(causes) ? causes.filter((id) => typeof id === 'string') : [];
};
