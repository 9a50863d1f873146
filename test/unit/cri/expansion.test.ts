import { expect, it } from 'vitest';
import { expand } from '../../../src/model/cri/expansion.js';

it.each([
  ['plain', 'plain'],
  ['$(A)', 'a'],
  ['x$(A)y$(B)', 'xay$(A)'],
  ['$(MISSING)', '$(MISSING)'],
  ['$$(A)', '$(A)'],
  ['$$$(A)', '$a'],
  ['$$', '$'],
  ['$', '$'],
  ['$A', '$A'],
  ['$(A', '$(A'],
  ['$()', '$()'],
  ['$(EMPTY)', ''],
  ['$(A$(A)', '$(A$(A)'],
])('%s: %s', (text, expanded) => {
  const values: Record<string, string> = { A: 'a', B: '$(A)', EMPTY: '' };
  expect(expand(text, (name) => values[name])).toBe(expanded);
});
