import { expect, it } from 'vitest';
import { orderedContainers } from '../../../../src/cli/logs/ordered-containers.js';
import type { JournalEntry, PlannedAction } from '../../../../src/model/journal/journal.js';

const actions = (uid: string, ...planned: readonly (readonly [PlannedAction['action'], string])[]): JournalEntry => ({
  ...{ id: 'a-1', at: 0, causes: [], kind: 'actions', pod: { name: 'web', namespace: 'default', uid } },
  actions: planned.map(([action, container]) => ({ action, container, because: '' })),
});

const ENTRIES = [
  actions('other', ['start', 'a'], ['start', 'z']),
  actions('u', ['start-init', 'first']),
  actions('u', ['keep', 'a'], ['start', 'z'], ['start', 'a'], ['start', 'unlogged']),
  actions('u', ['start', 'a'], ['start-ephemeral', 'debug'], ['kill', 'z']),
];

it('sorts containers into their lists by their first starts, and those without one behind them', () => {
  expect(orderedContainers(['a', 'new', 'first', 'debug', 'z', 'late'], ENTRIES, 'u')).toEqual({
    regular: ['z', 'a', 'late', 'new'],
    init: ['first'],
    ephemeral: ['debug'],
  });
});

it('sorts them by name without a journal', () => {
  expect(orderedContainers(['b', 'a'], [], 'u')).toEqual({ regular: ['a', 'b'], init: [], ephemeral: [] });
});
