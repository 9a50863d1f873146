import { expect, it } from 'vitest';
import { ReasonCache } from '../../../src/model/pod-actions/reason-cache.js';

const failure = (message: string) => ({ reason: 'ErrImagePull', message });

it('remembers the newest failure of each container, and forgets it with the first success', () => {
  const reasons = new ReasonCache();
  reasons.set('uid', 'main', failure('one'));
  reasons.set('uid', 'main', failure('two'));
  reasons.set('uid', 'other', failure('three'));
  expect(reasons.get('uid', 'main')).toEqual(failure('two'));
  reasons.set('uid', 'main', undefined);
  expect(reasons.get('uid', 'main')).toBeUndefined();
  expect(reasons.get('uid', 'other')).toEqual(failure('three'));
  expect(reasons.get('another', 'other')).toBeUndefined();
});

it('keeps 1000 failures: the one that was neither stored nor asked for the longest goes first', () => {
  const reasons = new ReasonCache();
  for (let index = 0; index < 1_000; index += 1) reasons.set('uid', `c${index}`, failure(String(index)));
  expect(reasons.get('uid', 'c0')).toEqual(failure('0'));
  reasons.set('uid', 'c1000', failure('1000'));
  expect(reasons.get('uid', 'c0')).toEqual(failure('0'));
  expect(reasons.get('uid', 'c1')).toBeUndefined();
  expect(reasons.get('uid', 'c2')).toEqual(failure('2'));
  expect(reasons.get('uid', 'c1000')).toEqual(failure('1000'));
});
