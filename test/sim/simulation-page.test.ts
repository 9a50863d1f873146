import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { GENERATE } from '../../src/tools/sim/histories/history-kinds.js';
import { INVARIANTS } from '../../src/tools/sim/invariants/invariants.js';

const page = readFileSync(fileURLToPath(new URL('../../docs/simulation.md', import.meta.url)), 'utf8');
const section = (heading: string): string => page.split(`### ${heading}\n`)[1]!.split('\n#', 1)[0]!;
/** The names in the first column of the table of a section. */
const namesIn = (heading: string): readonly string[] =>
  [...section(heading).matchAll(/^\| `([\w-]+)`/gm)].map(([, name = '']) => name);

it('the page names every invariant in their order, and the two that need no monitor', () => {
  expect(namesIn('Invariants')).toEqual([
    ...INVARIANTS.map(({ name }) => name),
    'no-crash',
    'no-leak',
    'no-endless-work',
  ]);
});

it('the page gives every invariant the rule that the code has', () => {
  const plain = (text: string) => text.replace(/\s+/g, ' ');
  for (const { rule } of INVARIANTS) expect(plain(section('Invariants'))).toContain(plain(rule));
});

it('the page names every fault that histories have, and no other', () => {
  const kinds = new Set(
    Array.from({ length: 1500 }, (_, seed) =>
      Object.values(GENERATE).flatMap((generate) => generate(seed).faults.map(({ kind }) => kind)),
    ).flat(),
  );
  expect(new Set(namesIn('Faults'))).toEqual(kinds);
});
