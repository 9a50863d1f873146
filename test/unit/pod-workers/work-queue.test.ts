import { expect, it } from 'vitest';
import { causesOfSyncs, type DueWork, WorkQueue } from '../../../src/model/pod-workers/work-queue.js';

it('gives back what was due strictly before now, once', () => {
  const queue = new WorkQueue();
  queue.enqueue('a', 10, 'j1');
  queue.enqueue('b', 11, 'j2');
  expect(queue.takeDue(10)).toEqual([]);
  expect(queue.takeDue(11)).toEqual([{ uid: 'a', cause: 'j1' }]);
  expect(queue.takeDue(100)).toEqual([{ uid: 'b', cause: 'j2' }]);
  expect(queue.takeDue(100)).toEqual([]);
  expect(queue.size).toBe(0);
});

it('holds one entry per pod, and the newest wins, sooner or later', () => {
  const queue = new WorkQueue();
  queue.enqueue('a', 10, 'j1');
  queue.enqueue('a', 50, 'j2');
  expect(queue.size).toBe(1);
  expect(queue.takeDue(49)).toEqual([]);
  queue.enqueue('a', 5, 'j3');
  expect(queue.takeDue(6)).toEqual([{ uid: 'a', cause: 'j3' }]);
});

const DUE: readonly DueWork[] = [
  { uid: 'a', cause: 'j1' },
  { uid: 'b', cause: 'j2' },
];

it.each<{
  case: string;
  due: readonly DueWork[];
  late: readonly string[];
  syncs: readonly (readonly [string, readonly string[]])[];
}>([
  { case: 'no pod is synced while none is due or late', due: [], late: [], syncs: [] },
  {
    case: 'a pod that is due is synced for the cause of its entry',
    ...{ due: DUE, late: [] },
    syncs: [
      ['a', ['j1']],
      ['b', ['j2']],
    ],
  },
  { case: 'a pod that is late is synced without a cause', due: [], late: ['c'], syncs: [['c', []]] },
  {
    case: 'a pod that is due and late is synced once, for the cause of its entry, before those that are only late',
    ...{ due: DUE, late: ['c', 'b'] },
    syncs: [
      ['a', ['j1']],
      ['b', ['j2']],
      ['c', []],
    ],
  },
])('$case', ({ due, late, syncs }) => {
  expect([...causesOfSyncs(due, late)]).toEqual(syncs);
});
