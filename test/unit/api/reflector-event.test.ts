import { describe, expect, it } from 'vitest';
import type { ApiObject } from '../../../src/model/api/api-object.js';
import { foldReflected, type ReflectorEvent } from '../../../src/model/api/reflector-event.js';

const objectOf = (name: string, resourceVersion = '1'): ApiObject => ({
  metadata: { namespace: 'default', name, resourceVersion },
});
const before = new Map(['a', 'b'].map((name) => [`default/${name}`, objectOf(name)]));

const folded = (event: ReflectorEvent): string =>
  [...foldReflected(before, event).values()]
    .map(({ metadata }) => `${metadata.name}${metadata.resourceVersion}`)
    .join(' ');

describe('objects', () => {
  it.each<[event: ReflectorEvent, expected: string]>([
    [{ kind: 'replaced', objects: [objectOf('b', '2'), objectOf('c')], resourceVersion: '9' }, 'b2 c1'],
    [{ kind: 'replaced', objects: [], resourceVersion: '9' }, ''],
    [{ kind: 'put', object: objectOf('a', '2') }, 'a2 b1'],
    [{ kind: 'put', object: objectOf('c') }, 'a1 b1 c1'],
    [{ kind: 'deleted', object: objectOf('a', '2') }, 'b1'],
  ])('after %j are %s', (event, expected) => {
    expect(folded(event)).toBe(expected);
  });

  it.each<ReflectorEvent>([
    { kind: 'deleted', object: objectOf('x') },
    { kind: 'problem', step: 'list', error: 'no', severity: 'error' },
    { kind: 'recovered' },
  ])('are the same after %j', (event) => {
    expect(foldReflected(before, event)).toBe(before);
  });

  it('of an earlier moment stay as they are', () => {
    foldReflected(before, { kind: 'put', object: objectOf('c') });
    foldReflected(before, { kind: 'deleted', object: objectOf('a') });
    expect([...before.keys()]).toEqual(['default/a', 'default/b']);
  });
});
