import { expect, it } from 'vitest';
import { newProblems } from '../../../src/model/stats/readings.js';

it.each([
  { case: 'a sample without problems has no new ones', before: ['a'], problems: [], named: [], more: 0 },
  { case: 'all problems of the first sample are new', before: [], problems: ['a', 'b'], named: ['a', 'b'], more: 0 },
  { case: 'a problem that lasts is not new', before: ['a'], problems: ['a', 'b'], named: ['b'], more: 0 },
  { case: 'a problem is named once', before: [], problems: ['a', 'a'], named: ['a'], more: 0 },
  {
    case: 'the problems beyond the most are counted',
    before: ['a'],
    problems: ['a', 'b', 'c', 'd', 'e'],
    named: ['b', 'c'],
    more: 2,
  },
  { case: 'just the most problems are all named', before: [], problems: ['a', 'b'], named: ['a', 'b'], more: 0 },
])('$case', ({ before, problems, named, more }) => {
  expect(newProblems(before, problems, 2)).toEqual({ named, more });
});
