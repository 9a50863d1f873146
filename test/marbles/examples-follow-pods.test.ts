import { map } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { notReadyForAMinute, restarts } from '../../examples/library/follow-pods.js';
import type { Pod } from '../../src/model/pod/pod.js';
import type { PodChange } from '../../src/model/pod-status/pod-change.js';
import { aPod } from '../support/a-pod.js';
import { marbles } from './marbles.js';
import { forever, MINUTE, onNode, pod, SECOND } from './virtual-node.js';

const withReady = (isReady: boolean): Pod => ({
  ...aPod({ name: 'web' }),
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: isReady ? 'True' : 'False' }] as never },
});
const changed = (isReady: boolean): PodChange => ({
  kind: 'changed',
  before: withReady(!isReady),
  pod: withReady(isReady),
});

describe('examples/library/follow-pods', () => {
  it(
    'names a pod that has not been ready for a minute, and none that was ready or gone before',
    marbles(({ hot, expectObservable, scheduler }) => {
      const pods$ = hot('   a 59s r 1s n 59999ms n 5s r 1s n 30s x', {
        a: { kind: 'added', pod: withReady(false) },
        r: changed(true),
        n: changed(false),
        x: { kind: 'removed', pod: withReady(false) },
      } satisfies Record<string, PodChange>);
      const expected = '    - 59s - 1s - 59999ms w';
      expectObservable(notReadyForAMinute(pods$, scheduler), '^ 200s !').toBe(expected, { w: 'web' });
    }),
  );

  it('prints each restart of a container of a simulated node', () => {
    const told: string[] = [];
    const behaviours = { main: [{ exitsAfterMs: 5 * SECOND, exitCode: 1 }] };
    onNode({ behaviours, untilMs: MINUTE }, ({ start, scheduler }) => {
      const agent = start({ sources: { file: forever(pod()) } });
      restarts(agent.pods$)
        .pipe(map((text) => `${scheduler.now()} ${text}`))
        .subscribe((line) => told.push(line));
    });
    expect(told).toEqual(['5000 web/main restarted: 1', '21000 web/main restarted: 2', '47000 web/main restarted: 3']);
  });
});
