import type { JournalId, JournalRecord } from '../../model/journal/journal.js';

/** Writes one journal entry and returns its id, which later entries name as their cause. Does not fail and does not wait. */
export type RecordJournal = (record: JournalRecord) => JournalId;
