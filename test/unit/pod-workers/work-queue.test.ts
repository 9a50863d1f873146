import { expect, it } from 'vitest';
import { WorkQueue } from '../../../src/model/pod-workers/work-queue.js';

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
