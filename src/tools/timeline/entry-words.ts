import type { Timeline } from './lanes.js';

export interface EntryWords {
  readonly title: string;
  /** How to show an entry. */
  readonly hint: string;
}

/**
 * The words of a page for the entries behind its marks. A plan has no journal: its entries are the records of the agent
 * in the simulated node.
 */
export const entryWords = ({ clock }: Pick<Timeline, 'clock'>): EntryWords =>
  clock === 'since-start'
    ? {
        title: 'Simulated entry',
        hint: 'Choose a mark to see its record of the agent in the simulated node, its causes and its effects.',
      }
    : {
        title: 'Journal entry',
        hint: 'Choose a mark to see its journal entry, its causes and its effects.',
      };
