import { OrderedMap } from 'immutable';
import { describe, expect, it } from 'vitest';
import type { ConfigMap } from '../../../src/model/references/referenced-object.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import {
  foldWatched,
  isSameVersion,
  unreadObjects,
  type WatchedObject,
  watchedObject,
  type WatchedObjects,
  withoutReference,
  withReference,
  withWatched,
} from '../../../src/model/reflector/watched-object.js';

const aMap = (resourceVersion: string, uid = 'u', name = 'cm'): ConfigMap => ({
  metadata: { namespace: 'ns', name, uid, resourceVersion },
});
const NONE: WatchedObjects<ConfigMap> = OrderedMap();
const id = { namespace: 'ns', name: 'cm' };
const referred = withReference(NONE, id, 'p');

describe('the references of watched objects', () => {
  it('a first reference gives an object that is idle and unread', () => {
    expect([...referred]).toMatchObject([
      ['ns/cm', { id, state: 'idle', isSynced: false, object: undefined, problem: undefined, readAt: -Infinity }],
    ]);
    expect([...watchedObject(referred, id)!.references]).toEqual(['p']);
  });

  it('a further reference changes no other field, and keeps the identity of the object', () => {
    const followed = withWatched(referred, id, { state: 'followed' });
    const both = withReference(followed, { ...id }, 'q');
    expect(watchedObject(both, id)).toMatchObject({ id, state: 'followed' });
    expect([...watchedObject(both, id)!.references]).toEqual(['p', 'q']);
    expect(withReference(both, id, 'q')).toBe(both);
  });

  it('an object is dropped with its last reference', () => {
    const both = withReference(referred, id, 'q');
    const last = withoutReference(both, id, 'p');
    expect([...watchedObject(last, id)!.references]).toEqual(['q']);
    expect(withoutReference(last, id, 'q').isEmpty()).toBe(true);
    expect(withoutReference(NONE, id, 'p')).toBe(NONE);
  });

  it('an object that is referred to again has another identity, and changes of the earlier one are left out', () => {
    const again = withReference(withoutReference(referred, id, 'p'), { ...id }, 'p');
    expect(watchedObject(again, id)).toBeUndefined();
    expect(withWatched(again, id, { state: 'final' })).toBe(again);
  });
});

const followed: WatchedObject<ConfigMap> = { ...watchedObject(referred, id)!, state: 'followed' };
const known = { ...followed, object: aMap('1'), isSynced: true };

it.each<[title: string, before: WatchedObject<ConfigMap>, event: ReflectorEvent<ConfigMap>, expected: object]>([
  [
    'a list with the object',
    { ...followed, problem: 'away' },
    { kind: 'replaced', objects: [aMap('9', 'v', 'other'), aMap('2')], resourceVersion: '9' },
    { object: aMap('2'), isSynced: true, problem: undefined },
  ],
  [
    'a list without the object',
    known,
    { kind: 'replaced', objects: [], resourceVersion: '9' },
    { object: undefined, isSynced: true },
  ],
  ['a new version', known, { kind: 'put', object: aMap('2') }, { object: aMap('2'), isSynced: true }],
  ['a deletion', known, { kind: 'deleted', object: aMap('2') }, { object: undefined, isSynced: true }],
  [
    'a problem',
    known,
    { kind: 'problem', step: 'watch', error: 'away', severity: 'error' },
    { object: aMap('1'), isSynced: true, problem: 'away' },
  ],
  ['a recovery', { ...known, problem: 'away' }, { kind: 'recovered' }, { object: aMap('1'), problem: undefined }],
])('%s changes a watched object as it says', (_, before, event, expected) => {
  expect(foldWatched(before, event)).toMatchObject({ id, state: 'followed', ...expected });
});

it.each<[one: ConfigMap | undefined, other: ConfigMap | undefined, expected: boolean]>([
  [undefined, undefined, true],
  [undefined, aMap('1'), false],
  [aMap('1'), aMap('1'), true],
  [aMap('1'), aMap('2'), false],
  [aMap('1'), aMap('1', 'again'), false],
])('the objects %j and %j are the same version: %s', (one, other, expected) => {
  expect(isSameVersion(one, other)).toBe(expected);
});

it.each<[fields: Partial<WatchedObject<ConfigMap>>, isUnread: boolean]>([
  [{ state: 'followed', isSynced: true, readAt: 10 }, true],
  [{ state: 'followed', isSynced: true, readAt: 11 }, false],
  [{ state: 'followed', isSynced: false, readAt: 0 }, false],
  [{ state: 'idle', isSynced: true, readAt: 0 }, false],
  [{ state: 'final', isSynced: true, readAt: 0 }, false],
])('an object with the fields %j is unread at 31 ms, where 20 ms are allowed: %s', (fields, isUnread) => {
  expect(unreadObjects(withWatched(referred, id, fields), 31, 20)).toHaveLength(isUnread ? 1 : 0);
});
