import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { INVARIANTS } from '../../src/tools/sim/invariants/invariants.js';
import { MUTANTS } from '../mutations/mutants.js';

const PAGE = readFileSync(new URL('../../docs/simulation.md', import.meta.url), 'utf8');

/** The rows of the table under a heading, without its head. */
const rowsUnder = (heading: string): readonly (readonly string[])[] => {
  const section = PAGE.split(`### ${heading}\n`)[1]?.split('\n### ')[0] ?? '';
  const lines = section.split('\n').filter((line) => line.startsWith('|'));
  return lines.slice(2).map((line) =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  );
};

describe('docs/simulation.md', () => {
  it('has every invariant with its rule and its source, and the three that no monitor can see', () => {
    const known = INVARIANTS.map(({ name, rule, source }) => [`\`${name}\``, rule, source]);
    const rows = rowsUnder('Invariants');
    expect(rows.slice(0, -3)).toEqual(known);
    expect(rows.slice(-3).map(([name]) => name)).toEqual(['`no-crash`', '`no-leak`', '`no-endless-work`']);
  });

  it('has every planted bug', () => {
    expect(rowsUnder('Planted bugs')).toEqual(MUTANTS.map(({ name, why }) => [name, why]));
  });
});
