import { Map as ImmutableMap } from 'immutable';
import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { Secret } from '../../../src/model/references/referenced-object.js';
import {
  answerAfter,
  type CachedObjects,
  freshObject,
  type ObjectAnswer,
  withCacheReference,
  withObjectAnswer,
  withoutCacheReference,
} from '../../../src/model/reflector/cached-object.js';

const found = (resourceVersion: string): ObjectAnswer<Secret> => ({ object: { metadata: { resourceVersion } } });
const missing: ObjectAnswer<Secret> = { error: new ApiError({ code: 404, reason: 'NotFound', message: 'no' }) };
const away: ObjectAnswer<Secret> = { error: new ApiError({ message: 'connect ECONNREFUSED' }) };

it.each<[title: string, kept: ObjectAnswer<Secret> | undefined, reply: ObjectAnswer<Secret>, expected: object]>([
  ['a first object is kept', undefined, found('1'), { answer: found('1'), isNew: true }],
  ['a newer object replaces the kept one', found('1'), found('2'), { answer: found('2'), isNew: true }],
  ['the same version counts from now', found('1'), found('1'), { answer: found('1'), isNew: true }],
  ['an older object does not replace a newer one', found('2'), found('1'), { answer: found('2'), isNew: false }],
  ['an object that is missing replaces the kept one', found('1'), missing, { answer: missing, isNew: true }],
  [
    'an object that came replaces the answer that it is missing',
    missing,
    found('1'),
    { answer: found('1'), isNew: true },
  ],
  ['a server that is away is an error at first', undefined, away, { answer: away, isNew: false }],
  ['a server that is away leaves the kept object', found('1'), away, { answer: found('1'), isNew: false }],
  ['a server that is away leaves an object that is missing', missing, away, { answer: missing, isNew: false }],
])('%s', (_, kept, reply, expected) => {
  expect(answerAfter(kept, reply)).toEqual(expected);
});

const NONE: CachedObjects<Secret> = ImmutableMap();
const read = withObjectAnswer(withCacheReference(NONE, 'ns/s', 'p'), 'ns/s', found('1'), 100);

it('an object is fresh for its lifetime after the answer, until it has a new reference', () => {
  const freshAt = (objects: CachedObjects<Secret>, now: number) => freshObject(objects.get('ns/s')!, now, 10);
  expect(freshAt(read, 109)).toEqual({ metadata: { resourceVersion: '1' } });
  expect(freshAt(read, 110)).toBeUndefined();
  expect(freshAt(withCacheReference(read, 'ns/s', 'q'), 109)).toBeUndefined();
  expect(freshAt(withObjectAnswer(read, 'ns/s', missing, 100), 109)).toBeUndefined();
});

it('an object is dropped with its last reference, and an answer that comes later is not kept', () => {
  const both = withCacheReference(read, 'ns/s', 'q');
  const last = withoutCacheReference(both, 'ns/s', 'p');
  expect(last.has('ns/s')).toBe(true);
  const none = withoutCacheReference(last, 'ns/s', 'q');
  expect(none.isEmpty()).toBe(true);
  expect(withObjectAnswer(none, 'ns/s', found('1'), 0)).toBe(none);
  expect(withoutCacheReference(none, 'ns/s', 'q')).toBe(none);
});

it('a reference that ends leaves the answer of an object', () => {
  const answered = withObjectAnswer(withCacheReference(read, 'ns/s', 'q'), 'ns/s', found('1'), 100);
  expect(freshObject(withoutCacheReference(answered, 'ns/s', 'q').get('ns/s')!, 109, 10)).toBeDefined();
});
