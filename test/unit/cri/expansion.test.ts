import { expect, it } from 'vitest';
import { CreateContainerConfigError } from '../../../src/model/cri/create-container-config-error.js';
import { expand, expandValue, expandWords } from '../../../src/model/cri/expansion.js';

const MEBIBYTE = 'x'.repeat(2 ** 20);

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
  expect(expandValue(text, (name) => values[name])).toBe(expanded);
});

it.each<[text: string, expanded: string | number[]]>([
  ['é$(BYTES)$$$(A)', [0xc3, 0xa9, 0xff, 0x00, 0x24, 0x61]],
  ['$(HEAD)$(TAIL)', 'é'],
  ['$(TAIL)$(HEAD)', [0xa9, 0xc3]],
])('%s has the bytes of its variables', (text, expanded) => {
  const values: Record<string, string | Uint8Array> = {
    ...{ A: 'a', BYTES: Uint8Array.of(0xff, 0x00), HEAD: Uint8Array.of(0xc3), TAIL: Uint8Array.of(0xa9) },
  };
  const found = expandValue(text, (name) => values[name]);
  expect(typeof found === 'string' ? found : [...found]).toEqual(expanded);
});

it.each<[what: string, expanded: (count: number) => unknown]>([
  ['a text', (count) => expand('$(A)'.repeat(count), () => MEBIBYTE)],
  ['a value', (count) => expandValue('$(A)'.repeat(count), () => MEBIBYTE)],
  ['a value of bytes', (count) => expandValue('$(A)'.repeat(count), () => Buffer.from(MEBIBYTE))],
  [
    'a command',
    (count) =>
      expandWords(
        Array.from({ length: count }, () => '$(A)'),
        () => MEBIBYTE,
      ),
  ],
])('%s is no longer than a process of Linux can start with', (_, expanded) => {
  expect(expanded(6)).toBeDefined();
  expect(() => expanded(7)).toThrow(
    new CreateContainerConfigError('the variables or the command are longer than 6 MiB, with which no process starts'),
  );
});
