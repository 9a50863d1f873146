import { it } from 'vitest';
import { FORWARD_CHECK_MS, forwardEnd } from '../../../src/server/streaming/forward-end.js';
import { marbles } from '../marbles.js';

it(
  'a port-forward ends within a second after its pod, once, and is not checked any more',
  marbles(({ expectObservable, scheduler }) => {
    const endsAtMs = 2 * FORWARD_CHECK_MS + 1;
    const end$ = forwardEnd(() => scheduler.now() >= endsAtMs, scheduler);
    expectObservable(end$).toBe('3000ms (e|)', { e: 'pod-ended' });
    expectObservable(end$, '^ 2000ms !').toBe('');
  }),
);
