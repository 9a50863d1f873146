import { expect, it } from 'vitest';
import { isPastActiveDeadline, startOfDeadline } from '../../../src/model/pod/active-deadline.js';
import { aPod } from '../pods.js';

it.each<[row: string, seconds: number | undefined, activeMs: number | undefined, past: boolean]>([
  ['no deadline', undefined, 1e12, false],
  ['no start time yet', 5, undefined, false],
  ['before it', 5, 4_999, false],
  ['at it', 5, 5_000, true],
])('%s', (_, activeDeadlineSeconds, activeMs, past) => {
  expect(isPastActiveDeadline(aPod({ activeDeadlineSeconds }), activeMs)).toBe(past);
});

const START = '2026-01-01T00:00:00Z';

it.each<{
  case: string;
  status?: { readonly startTime?: string; readonly phase?: string };
  isStopping?: boolean;
  start: string | undefined;
}>([
  { case: 'the deadline of a started pod counts from its start', status: { startTime: START }, start: START },
  {
    case: 'the deadline of a running pod counts from its start',
    status: { startTime: START, phase: 'Running' },
    start: START,
  },
  { case: 'no deadline counts before the start', status: { phase: 'Pending' }, start: undefined },
  { case: 'no deadline counts without a status', start: undefined },
  {
    case: 'no deadline counts once the pod has failed',
    status: { startTime: START, phase: 'Failed' },
    start: undefined,
  },
  {
    case: 'no deadline counts once the pod has succeeded',
    status: { startTime: START, phase: 'Succeeded' },
    start: undefined,
  },
  { case: 'no deadline counts while the pod stops', status: { startTime: START }, isStopping: true, start: undefined },
])('$case', ({ status, isStopping = false, start }) => {
  expect(startOfDeadline(aPod({ activeDeadlineSeconds: 5 }), status, isStopping)).toBe(start);
  expect(startOfDeadline(aPod(), status, isStopping)).toBeUndefined();
});
