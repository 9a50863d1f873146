import { expect, it } from 'vitest';
import { type ProbeEnd, probeEvent } from '../../../src/model/probes/probe-event.js';
import type { ProbeType } from '../../../src/model/probes/probe-worker.js';

it.each<[ProbeType, ProbeEnd, string | undefined]>([
  ['liveness', { result: 'failure', output: 'no' }, 'Unhealthy Liveness probe failed: no'],
  ['readiness', { result: 'failure', output: '' }, 'Unhealthy Readiness probe failed: '],
  [
    'startup',
    { error: 'gone', state: 'unknown' },
    'Unhealthy Startup probe errored and resulted in unknown state: gone',
  ],
  [
    'readiness',
    { error: 'cut off', state: 'failure' },
    'Unhealthy Readiness probe errored and resulted in failure state: cut off',
  ],
  ['readiness', { result: 'warning', output: 'moved' }, 'ProbeWarning Readiness probe warning: moved'],
  ['liveness', { result: 'success', output: 'fine' }, undefined],
])('a %s probe that ends with %j reports %s', (type, end, told) => {
  const event = probeEvent(type, end);
  expect(event && `${event.reason} ${event.message}`).toBe(told);
});
