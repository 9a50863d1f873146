import type { PodRow } from './pod-row.js';

const COLUMNS = {
  namespace: 'NAMESPACE',
  name: 'NAME',
  ready: 'READY',
  status: 'STATUS',
  restarts: 'RESTARTS',
  age: 'AGE',
};
const WIDE = { ...COLUMNS, ip: 'IP', node: 'NODE' };

const GAP = '   ';

/** The rows under their headings, by namespace and name, without borders or colours. */
export const podTable = (
  rows: readonly PodRow[],
  layout: 'narrow' | 'wide' = 'narrow',
  without: readonly (keyof PodRow)[] = [],
): string => {
  const columns = layout === 'wide' ? WIDE : COLUMNS;
  const fields = (Object.keys(columns) as (keyof typeof WIDE)[]).filter((field) => !without.includes(field));
  const sorted = rows.toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
  const lines = [WIDE, ...sorted].map((row) => fields.map((field) => row[field]));
  const widths = fields.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)));
  return lines
    .map((cells) =>
      cells
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join(GAP)
        .trimEnd(),
    )
    .join('\n');
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
