import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Mark } from '../../timeline/lanes.js';

/** The links of a mark to its entry. */
export const linkTo = (entry: JournalEntry | undefined): Pick<Mark, 'entry' | 'causes'> => ({
  ...(entry && { entry: entry.id }),
  causes: entry?.causes ?? [],
});
