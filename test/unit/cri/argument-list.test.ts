import { expect, it } from 'vitest';
import { argumentListProblem, USUAL_LIMITS } from '../../../src/model/cri/argument-list.js';

const MIB = 2 ** 20;
const variable = (name: string, bytes: number): readonly [string, Uint8Array] => [name, Buffer.alloc(bytes, 'x')];
const many = (total: number) => Array.from({ length: total / 2 ** 16 }, (_, index) => variable(`V${index}`, 2 ** 16));

it.each([
  ['of a program alone', [], USUAL_LIMITS, undefined],
  ['with the longest variable', [variable('A', 131_069)], USUAL_LIMITS, undefined],
  [
    'with a longer one',
    [variable('A', 131_070)],
    USUAL_LIMITS,
    'the variable A has 131072 bytes, and may have 131071 at most',
  ],
  [
    'with the same variable on pages of 64 KiB',
    [variable('A', 131_070)],
    { ...USUAL_LIMITS, pageBytes: 65_536 },
    undefined,
  ],
  ['with a multi-byte name', [variable('ä', 131_069)], USUAL_LIMITS, 'the variable ä has 131072 bytes'],
  ['of 5 MiB without a limit of the stack', many(5 * MIB), USUAL_LIMITS, undefined],
  ['of 7 MiB without a limit of the stack', many(7 * MIB), USUAL_LIMITS, 'and may have 6291456 at most'],
  [
    'of 3 MiB with a stack of 8 MiB',
    many(3 * MIB),
    { pageBytes: 4096, stackBytes: 8 * MIB },
    'and may have 2097152 at most; the variable V10 has most, 65540 bytes',
  ],
  ['of 64 KiB with a tiny stack', many(2 ** 16), { pageBytes: 4096, stackBytes: 4096 }, undefined],
])('a list %s is refused as the kernel does', (_, environment, limits, expected) => {
  const problem = argumentListProblem({ command: ['a'], environment }, limits);
  if (expected === undefined) expect(problem).toBeUndefined();
  else expect(problem).toContain(expected);
});

it('an argument that is too long is named by its number', () => {
  const command = ['sh', '-c', 'x'.repeat(131_072)];
  expect(argumentListProblem({ command, environment: [] }, USUAL_LIMITS)).toBe(
    'argument list too long: argument 2 has 131072 bytes, and may have 131071 at most',
  );
});
