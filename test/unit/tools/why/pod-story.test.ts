import { expect, it } from 'vitest';
import { explainWhy } from '../../../../src/tools/why/why.js';
import { growth } from '../../../support/map-steps.js';
import { added, agentStarted, app, died, journal, type Line, phase, started, web } from './journal-lines.js';

const crash = (index: number): readonly Line[] => [
  [index, { ...started, target: `c${index}` } as Line[1], app],
  [index, { ...died(1), containerId: `c${index}` } as Line[1], app],
];
const restart = (index: number): readonly Line[] => [
  [index, agentStarted],
  [index, added, { pod: web }],
  [index, { ...died(1), containerId: 'c0' } as Line[1], app],
  [index, phase('Running'), { pod: web }],
];

it.each<[what: string, lines: (index: number) => readonly Line[]]>([
  ['ends of its containers', crash],
  ['starts of the agent', restart],
])('costs as much for each of many %s as for each of few', (_what, lines) => {
  const tell = (count: number): void => {
    const entries = journal(
      [0, agentStarted],
      [0, added, { pod: web }],
      ...Array.from({ length: count }, (_, index) => lines(index)).flat(),
    );
    explainWhy({ entries, pod: 'web', now: count * 1_000 });
  };
  expect(growth(tell, 200)).toBeLessThan(2.1);
});
