import { expect, it } from 'vitest';
import { SourcesReady } from '../../../src/model/config/sources-ready.js';

it('is ready once every source has been received, in any order', () => {
  const sources = new SourcesReady(['file', 'http']);
  expect([sources.all, sources.missing]).toEqual([false, ['file', 'http']]);
  sources.add('http');
  expect([sources.all, sources.missing]).toEqual([false, ['file']]);
  sources.add('http');
  expect(sources.all).toBe(false);
  sources.add('file');
  expect([sources.all, sources.missing]).toEqual([true, []]);
});

it('is ready at once without any source, and not made so by a stranger', () => {
  expect(new SourcesReady([]).all).toBe(true);
  const sources = new SourcesReady(['file']);
  sources.add('api');
  expect(sources.all).toBe(false);
});
