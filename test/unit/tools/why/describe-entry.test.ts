import { describe, expect, it } from 'vitest';
import type { JournalEntry } from '../../../../src/model/journal/journal.js';
import { describeEntry } from '../../../../src/tools/why/describe-entry.js';

const actions = (planned: Extract<JournalEntry, { kind: 'actions' }>['actions']): string | undefined =>
  describeEntry({
    ...{ id: 'e1', at: 0, kind: 'actions', causes: [], actions: planned },
    pod: { uid: 'u', namespace: 'default', name: 'web' },
  });

describe('what a sync had to do, in words', () => {
  it('names a cause once that is the cause of more than one thing', () => {
    const because = 'sandbox s1 is not ready';
    expect(
      actions([
        { action: 'kill-pod', because },
        { action: 'create-sandbox', because },
        { action: 'start', container: 'c', because: 'container c starts in a new sandbox' },
      ]),
    ).toBe(
      'the whole pod had to be stopped and a sandbox had to be created: sandbox s1 is not ready; it had to start c: container c starts in a new sandbox',
    );
  });

  it('does not list what is kept', () => {
    expect(actions([{ action: 'keep', container: 'c', because: 'it runs' }])).toBeUndefined();
  });
});

describe('a change of a source, in words', () => {
  it.each([
    ['UPDATE', 'the pod was changed by the source file'],
    ['REFRESH', 'the pod was synced for a change of its ConfigMaps or Secrets by the source file'],
  ] as const)('says what %s is', (op, said) => {
    const pod = { uid: 'u', namespace: 'default', name: 'web' };
    expect(describeEntry({ id: 'e1', at: 0, kind: 'config', source: 'file', op, pod, causes: [] })).toBe(said);
  });
});
