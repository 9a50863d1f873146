import { expect, it } from 'vitest';
import { missingSources, withSource } from '../../../src/model/config/sources-ready.js';
import type { PodSourceName } from '../../../src/model/pod/pod.js';

const missing = (expected: readonly PodSourceName[], ...seen: readonly PodSourceName[]): readonly PodSourceName[] =>
  missingSources(seen.reduce(withSource, { expected, seen: [] }));

it('a source is missing until it has been received, whichever comes first', () => {
  expect(missing(['file', 'http'])).toEqual(['file', 'http']);
  expect(missing(['file', 'http'], 'http')).toEqual(['file']);
  expect(missing(['file', 'http'], 'http', 'http')).toEqual(['file']);
  expect(missing(['file', 'http'], 'http', 'file')).toEqual([]);
});

it('no source is missing where there is none, and a source that was not expected stands for no other', () => {
  expect(missing([])).toEqual([]);
  expect(missing(['file'], 'api')).toEqual(['file']);
});
