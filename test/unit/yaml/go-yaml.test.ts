import { describe, expect, it } from 'vitest';
import { parseDocuments } from '../../../src/model/manifest/manifest-documents.js';
import { DOCUMENTS } from './go-yaml-documents.js';
import { SCALARS } from './go-yaml-scalars.js';

const read = (text: string): { readonly value: unknown } | { readonly error: string } => {
  const [document] = parseDocuments(text);
  if (!document) return { value: null };
  const [error] = document.errors;
  return error ? { error: error.message } : { value: document.value };
};

/** JSON has no number without bounds, so that go-yaml's cannot become one. */
const isJson = (value: unknown): boolean => {
  if (typeof value === 'number') return Number.isFinite(value);
  return typeof value !== 'object' || value === null || Object.values(value).every(isJson);
};

const BLOCK: readonly (readonly [
  where: string,
  wrap: (text: string) => string,
  unwrap: (value: unknown) => unknown,
])[] = [
  ['behind a key', (x) => `a: ${x}`, (x) => ({ a: x })],
  ['before a comment', (x) => `a: ${x} # b`, (x) => ({ a: x })],
  ['before another key', (x) => `a: ${x}\nb: 1`, (x) => ({ a: x, b: 1 })],
  ['on a line of its own', (x) => `a:\n  ${x}\nb: 1`, (x) => ({ a: x, b: 1 })],
  ['in a list', (x) => `- ${x}\n- b`, (x) => [x, 'b']],
  ['in a list that is not indented', (x) => `a:\n- ${x}\nb: 1`, (x) => ({ a: [x], b: 1 })],
  ['in a list of lists', (x) => `- - ${x}`, (x) => [[x]]],
  ['with an anchor', (x) => `a: &c ${x}\nb: *c`, (x) => ({ a: x, b: x })],
];
const FLOW: typeof BLOCK = [
  ['alone in []', (x) => `[${x}]`, (x) => [x]],
  ['first in []', (x) => `[${x}, b]`, (x) => [x, 'b']],
  ['last in []', (x) => `a: [b, ${x}]`, (x) => ({ a: ['b', x] })],
  ['before a blank', (x) => `[ ${x} ]`, (x) => [x]],
  ['over lines', (x) => `[\n  b,\n  ${x}\n]`, (x) => ['b', x]],
  ['behind a key in {}', (x) => `{a: ${x}}`, (x) => ({ a: x })],
  ['between in {}', (x) => `{a: ${x}, b: 1}`, (x) => ({ a: x, b: 1 })],
];

describe('YAML as Go reads it', () => {
  it.each(BLOCK)('a scalar %s', (_where, wrap, unwrap) => {
    for (const [text, value] of SCALARS) expect([text, read(wrap(text))]).toEqual([text, { value: unwrap(value) }]);
  });

  it.each(FLOW)('a scalar %s', (_where, wrap, unwrap) => {
    for (const [text, value, , isForFlow = true] of SCALARS) {
      if (isForFlow) expect([text, read(wrap(text))]).toEqual([text, { value: unwrap(value) }]);
    }
  });

  it('a scalar as a key', () => {
    for (const [text, , key] of SCALARS) {
      const found = read(`${text}: 1\n`);
      expect([text, key === undefined ? 'error' in found : found]).toEqual([
        text,
        key === undefined ? true : { value: { [key]: 1 } },
      ]);
    }
  });

  it('a scalar in quotes, which is text with any content', () => {
    for (const [text] of SCALARS) {
      expect(read(`a: '${text.replaceAll("'", "''")}'`)).toEqual({ value: { a: text } });
      expect(read(`a: ${JSON.stringify(text)}`)).toEqual({ value: { a: text } });
      expect(read(`a: !!str ${JSON.stringify(text)}`)).toEqual({ value: { a: text } });
      expect(read(`a: |-\n  ${text}`)).toEqual({ value: { a: text } });
    }
  });

  it.each(DOCUMENTS)('%j', (text, json) => {
    const found = read(text);
    if (json === undefined) expect('error' in found || !isJson(found.value)).toBe(true);
    else expect(found).toEqual({ value: JSON.parse(json) as unknown });
  });

  it.each<[text: string, value: unknown]>([
    // What JSON may say.
    ['{"a": "\\/", "b": "\\ud83d\\ude00"}', { a: '/', b: '😀' }],
    // What newer readers make of texts that go-yaml refuses.
    ['[a?b, ::1, http://x/?y=z]', ['a?b', '::1', 'http://x/?y=z']],
    ['{a: ::1, b: :c}', { a: '::1', b: ':c' }],
  ])('more than Go reads: %s', (text, value) => {
    expect(read(text)).toEqual({ value });
  });

  it.each(['[]]', 'a: 1\n...\nb: 2', '"a"\n: b'])('less, for Go stops before the end: %j', (text) => {
    expect(read(text)).toHaveProperty('error');
  });
});
