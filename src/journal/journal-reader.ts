import { readFileSync } from 'node:fs';
import type { JournalEntry } from '../model/journal/journal.js';
import type { PodRef } from '../model/pod/pod.js';
import { journalFile, journalFileAges } from './journal-files.js';

export interface JournalContents {
  /** Oldest first. */
  readonly entries: readonly JournalEntry[];
  /** The count of lines that are no entries, because a kill or a full disk cut them short. */
  readonly unreadable: number;
}

/**
 * Reads all files of a journal, oldest first; safe while an agent writes it. With `isWanted`, it returns the entries
 * about these pods and the entries without a pod.
 *
 * Errors: a directory that cannot be read. A missing directory is an empty journal.
 */
export function readJournal(directory: string, isWanted: (pod: PodRef) => boolean = () => true): JournalContents {
  const entries: JournalEntry[] = [];
  // After a rotation between listing and reading, a file is listed under its old and its new name.
  const seen = new Set<string>();
  let unreadable = 0;
  for (const age of journalFileAges(directory)) {
    for (const line of readText(journalFile(directory, age)).split('\n')) {
      if (line === '') continue;
      const entry = parseEntry(line);
      if (!entry) unreadable++;
      else if (!seen.has(entry.id)) {
        seen.add(entry.id);
        if (!entry.pod || isWanted(entry.pod)) entries.push(entry);
      }
    }
  }
  return { entries, unreadable };
}

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
};

const parseEntry = (line: string): JournalEntry | undefined => {
  try {
    const value = JSON.parse(line) as Partial<JournalEntry> | null;
    const isEntry =
      typeof value?.id === 'string' &&
      typeof value.at === 'number' &&
      typeof value.kind === 'string' &&
      Array.isArray(value.causes);
    return isEntry ? (value as JournalEntry) : undefined;
  } catch {
    return undefined;
  }
};
