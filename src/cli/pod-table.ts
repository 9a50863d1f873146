import Table from 'cli-table3';
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

const NO_BORDERS = Object.fromEntries(
  [
    'top',
    'top-mid',
    'top-left',
    'top-right',
    'bottom',
    'bottom-mid',
    'bottom-left',
    'bottom-right',
    'left',
    'left-mid',
    'mid',
    'mid-mid',
    'right',
    'right-mid',
    'middle',
  ].map((name) => [name, '']),
);

/** The rows under their headings, by namespace and name, without borders or colours. */
export const podTable = (rows: readonly PodRow[], layout: 'narrow' | 'wide' = 'narrow'): string => {
  const columns = layout === 'wide' ? WIDE : COLUMNS;
  const fields = Object.keys(columns) as (keyof typeof WIDE)[];
  const table = new Table({
    head: Object.values(columns),
    chars: { ...NO_BORDERS, middle: '   ' },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  });
  const sorted = rows.toSorted((a, b) => compare(a.namespace, b.namespace) || compare(a.name, b.name));
  for (const row of sorted) table.push(fields.map((field) => row[field]));
  return table
    .toString()
    .split('\n')
    .map((line) => line.trimEnd())
    .join('\n');
};

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
