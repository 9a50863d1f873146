import { readFileSync } from 'node:fs';

export interface OperatorRow {
  readonly name: string;
  readonly source: string;
  readonly result: string;
  readonly what: string;
  readonly usedIn: readonly string[];
}

/** The texts in backticks of a cell. */
const codeIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text.replaceAll('\\|', '|'));

/** The table under "Operators" in docs/library.md. */
export const operatorTable = (): readonly OperatorRow[] => {
  const page = readFileSync(new URL('../../docs/library.md', import.meta.url), 'utf8');
  const section = (page.split('\n### Operators\n')[1] ?? '').split(/^#/m)[0] ?? '';
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => {
      const [, first = '', picture = '', what = '', use = ''] = line.split(/(?<!\\)\|/).map((cell) => cell.trim());
      const [source = '', result = ''] = codeIn(picture);
      return { name: codeIn(first)[0] ?? '', source, result, what, usedIn: codeIn(use) };
    });
};
