import { OrderedMap } from 'immutable';
import { expect, it } from 'vitest';
import {
  type StartFailure,
  startFailureOf,
  type StartFailures,
  withStartEnded,
} from '../../../src/model/pod-actions/start-failures.js';

const failure = (message: string): StartFailure => ({ reason: 'ErrImagePull', message });
const ended = (...starts: readonly (readonly [container: string, failure?: StartFailure])[]): StartFailures =>
  starts.reduce(
    (known, [container, failed]) => withStartEnded(known, 'uid', container, failed),
    OrderedMap<string, StartFailure>(),
  );

it('the newest failure of each container is remembered, and forgotten with the first success', () => {
  const failed = ended(['main', failure('one')], ['main', failure('two')], ['other', failure('three')]);
  expect(startFailureOf(failed, 'uid', 'main')).toEqual(failure('two'));
  const better = withStartEnded(failed, 'uid', 'main', undefined);
  expect(startFailureOf(better, 'uid', 'main')).toBeUndefined();
  expect(startFailureOf(better, 'uid', 'other')).toEqual(failure('three'));
  expect(startFailureOf(better, 'another', 'other')).toBeUndefined();
});

it('1000 failures are kept: the one that was stored the longest ago goes first', () => {
  const many = ended(
    ...Array.from({ length: 1_000 }, (_, index) => [`c${index}`, failure(String(index))] as const),
    ['c0', failure('again')],
    ['c1000', failure('1000')],
  );
  expect(startFailureOf(many, 'uid', 'c0')).toEqual(failure('again'));
  expect(startFailureOf(many, 'uid', 'c1')).toBeUndefined();
  expect(startFailureOf(many, 'uid', 'c2')).toEqual(failure('2'));
  expect(startFailureOf(many, 'uid', 'c1000')).toEqual(failure('1000'));
});
