import { tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { StateChange } from '../../../src/model/node-state/state-change.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import {
  RESIZE_RETRY_MS,
  RESIZE_RETRY_UNREADY_MS,
  resizeTriggers,
  type ResizeTrigger,
} from '../../../src/streams/resize/resize-triggers.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const at = (cpu: string, uid = 'web'): Pod =>
  aPod({ uid, name: uid, source: 'api', spec: { containers: [{ name: 'main', resources: { requests: { cpu } } }] } });
const set = (pod: Pod): StateChange => ({ kind: 'pod-set', pod });
const ready: StateChange = { kind: 'source-ready', source: 'api' };
const VALUES: Readonly<Record<string, ResizeTrigger>> = {
  u: 'pod_updated',
  a: 'pods_added',
  r: 'pods_removed',
  t: 'pod_terminated',
  z: 'pod_resized',
  p: 'periodic_retry',
};

it('resizes that wait are tried after three minutes, and after half a minute until every source is ready', () => {
  expect([RESIZE_RETRY_MS, RESIZE_RETRY_UNREADY_MS]).toEqual([180_000, 30_000]);
});

it(
  'resizes are tried 30 s after the start until every source is ready, and 3 m after each time from then on',
  marbles(({ hot, expectObservable, scheduler }) => {
    const state = kubeletState({ sources: ['api'] });
    hot('     45s r').subscribe(() => state.apply(ready));
    const sub = '^ 260s !';
    const seen = '30s p 29999ms p 179999ms p';
    expectObservable(resizeTriggers(state, scheduler), sub).toBe(seen, VALUES);
  }),
);

it(
  'a pod that asks for other amounts is a reason to try at once, and the three minutes count from there',
  marbles(({ hot, expectObservable, scheduler }) => {
    const state = kubeletState({ sources: ['api'] });
    for (const change of [ready, set(at('1'))]) state.apply(change);
    hot(' 100s u').subscribe(() => state.apply(set(at('2'))));
    const sub = '^ 281s !';
    const seen = '100s u 179999ms p';
    expectObservable(resizeTriggers(state, scheduler), sub).toBe(seen, VALUES);
  }),
);

describe('while a pod waits for a resize', () => {
  it.each<[what: string, change: StateChange, seen: string]>([
    ['a pod that comes is a reason to try', set(at('1', 'other')), '-a'],
    ['a pod that goes is one', { kind: 'pod-removed', pod: at('1', 'small') }, '-r'],
    ['a pod that ends is one', { kind: 'status', uid: 'small', status: { phase: 'Failed' } }, '-t'],
    ['a pod that runs is none', { kind: 'status', uid: 'small', status: { phase: 'Running' } }, '--'],
    [
      'a container that was given other amounts is one',
      { kind: 'instance-resized', uid: 'small', container: 'main', amounts: { containerId: 'c1' } },
      '-z',
    ],
    [
      'containers that were created with other amounts are one',
      { kind: 'allocation-found', uid: 'small', amounts: { containers: {} } },
      '-a',
    ],
    ['another wish is one', set(at('3')), '-u'],
    ['another version with the same wish is none', set({ ...at('2'), status: { phase: 'Running' } }), '--'],
    ['a wish that is taken back is none, since nothing waits', set(at('1')), '--'],
  ])('%s', (_, change, seen) => {
    marbles(({ hot, expectObservable, scheduler }) => {
      const state = kubeletState({ sources: ['api'] });
      for (const before of [ready, set(at('1', 'small')), set(at('1')), set(at('2'))]) state.apply(before);
      hot('-x').subscribe(() => state.apply(change));
      expectObservable(resizeTriggers(state, scheduler), '^-!').toBe(seen, VALUES);
    })();
  });
});

it(
  'changes of one instant are one reason, after all of them; one that a try makes is another',
  marbles(({ hot, expectObservable, scheduler }) => {
    const state = kubeletState({ sources: ['api'] });
    for (const before of [ready, set(at('1')), set(at('2')), set(at('1', 'other'))]) state.apply(before);
    const change$ = hot('-(xy)').pipe(
      tap((name) => state.apply(name === 'x' ? set(at('3')) : { kind: 'pod-removed', pod: at('1', 'other') })),
    );
    change$.subscribe();
    expectObservable(resizeTriggers(state, scheduler), '^-!').toBe('-r', VALUES);
  }),
);
