import { expect, it } from 'vitest';
import { errorText } from '../../../src/model/cri/cri-error.js';
import type { ApiObject } from '../../../src/model/kube-api/api-object.js';
import { foldKnownObjects, keptListAfter, type KnownObjects } from '../../../src/model/reflector/known-objects.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';

const one = (name: string, resourceVersion?: string): ApiObject => ({
  metadata: { namespace: 'ns', name, ...(resourceVersion !== undefined && { resourceVersion }) },
});
const away = new Error('away');
const events: Readonly<Record<string, ReflectorEvent>> = {
  list: { kind: 'replaced', objects: [one('b', '1'), one('a', '2')], resourceVersion: '3' },
  empty: { kind: 'replaced', objects: [], resourceVersion: '' },
  put: { kind: 'put', object: one('b', '4') },
  new: { kind: 'put', object: one('c', '5') },
  unversioned: { kind: 'put', object: one('c') },
  deleted: { kind: 'deleted', object: one('b', '6') },
  problem: { kind: 'problem', step: 'watch', error: away, severity: 'error' },
  recovered: { kind: 'recovered' },
};
const textOf = ({ objects, problem }: KnownObjects<ApiObject>): string => {
  const known = objects
    ? [...objects].map(([key, { metadata }]) => `${key} ${metadata.resourceVersion}`).join(', ')
    : 'unknown';
  return problem === undefined ? known : `${known}; ${errorText(problem)}`;
};

it.each<[steps: string, expected: string]>([
  ['', 'unknown'],
  ['put', 'unknown'],
  ['deleted', 'unknown'],
  ['problem', 'unknown; away'],
  ['problem recovered', 'unknown'],
  ['empty', ''],
  ['list', 'ns/b 1, ns/a 2'],
  ['list put new', 'ns/b 4, ns/a 2, ns/c 5'],
  ['list deleted', 'ns/a 2'],
  ['list problem', 'ns/b 1, ns/a 2; away'],
  ['list problem new', 'ns/b 1, ns/a 2, ns/c 5; away'],
  ['list problem recovered', 'ns/b 1, ns/a 2'],
  ['problem empty', ''],
])('after the events "%s" the known objects are "%s"', (steps, expected) => {
  const folded = steps
    .split(' ')
    .filter(Boolean)
    .reduce<KnownObjects<ApiObject>>((known, step) => foldKnownObjects(known, events[step]!), {});
  expect(textOf(folded)).toBe(expected);
});

it.each<[event: string, expected: object | undefined]>([
  ['list', { resourceVersion: '3' }],
  ['empty', {}],
  ['put', { resourceVersion: '4' }],
  ['unversioned', {}],
  ['deleted', { resourceVersion: '6' }],
  ['problem', undefined],
  ['recovered', undefined],
])('after the event "%s" the list to keep has the metadata %o', (event, expected) => {
  const items = [one('a'), one('b')];
  expect(keptListAfter(events[event]!, items)).toEqual(expected && { metadata: expected, items });
});
