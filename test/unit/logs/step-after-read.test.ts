import { describe, expect, it } from 'vitest';
import { type LogRead, stepAfterRead } from '../../../src/model/logs/step-after-read.js';

const READ: LogRead = {
  ...{ isFull: false, identity: 'a', identityAtPath: 'a', size: 10, position: 10 },
  hasEnded: false,
};

describe('a followed log whose file is read to its end', () => {
  it.each<[string, string, Partial<LogRead>]>([
    ['ask', 'has the same file', {}],
    ['ask', 'has grown meanwhile', { size: 12 }],
    ['ask', 'has no file at its path', { identityAtPath: undefined }],
    ['last-line', 'has no container that runs', { hasEnded: true }],
    [
      'last-line',
      'has neither a file at its path nor a container that runs',
      { identityAtPath: undefined, hasEnded: true },
    ],
    ['start-over', 'is shorter than before', { size: 9 }],
    ['start-over', 'is shorter than before, and its container has ended', { size: 9, hasEnded: true }],
    ['next-file', 'has another file at its path', { identityAtPath: 'b' }],
    ['next-file', 'has another file at its path, and its container has ended', { identityAtPath: 'b', hasEnded: true }],
    ['next-file', 'has another file at its path, and is shorter', { identityAtPath: 'b', size: 0 }],
    ['end', 'has reached a limit', { isFull: true }],
    ['end', 'has reached a limit and another file', { isFull: true, identityAtPath: 'b' }],
  ])('%s: it %s', (step, _, more) => {
    expect(stepAfterRead({ ...READ, ...more })).toBe(step);
  });
});
