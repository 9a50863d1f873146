import type { JournalEntry } from '../../model/journal.js';
import type { Mark } from '../../model/timeline/lanes.js';

/** What a mark says about the entry that it stems from. */
export const linkTo = (entry: JournalEntry | undefined): Pick<Mark, 'entry' | 'causes'> => ({
  ...(entry && { entry: entry.id }),
  causes: entry?.causes ?? [],
});
