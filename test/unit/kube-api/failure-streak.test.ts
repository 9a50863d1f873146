import { expect, it } from 'vitest';
import { foldFailure, NO_FAILURES } from '../../../src/model/kube-api/failure-streak.js';

const say = (...texts: readonly string[]): string => {
  let said = NO_FAILURES;
  return texts
    .map((text) => {
      const folded = foldFailure(said, text, text.startsWith('d') ? 'debug' : 'warning');
      said = folded.said;
      return folded.severity === 'debug' ? '.' : '!';
    })
    .join('');
};

it.each([
  [['a'], '!'],
  [['a', 'a', 'a'], '!..'],
  [['a', 'b', 'a', 'b'], '!!..'],
  [['d', 'd', 'a'], '..!'],
  [['a', 'b', 'c', '4', '5', '6', '7', '8', '9', 'a'], '!!!!!!!!..'],
])('of %j it says aloud: %s', (texts, expected) => {
  expect(say(...texts)).toBe(expected);
});
