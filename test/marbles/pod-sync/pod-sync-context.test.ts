import { EMPTY, NEVER, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { podRef } from '../../../src/model/pod/pod.js';
import { killContainer } from '../../../src/streams/pod-sync/kill-container.js';
import { journaled, journalIfSlow } from '../../../src/streams/pod-sync/pod-sync-context.js';
import { aPod } from '../../support/a-pod.js';
import { syncStage } from '../../support/sync-context.js';
import { marbles } from '../marbles.js';

const pod = aPod();

describe('a call', () => {
  it.each([
    { ms: 9_999, kinds: ['call'] },
    { ms: 10_001, kinds: ['call-slow', 'call'] },
  ])('of $ms ms is in the journal as $kinds', ({ ms, kinds }) => {
    marbles(({ expectObservable, flush, scheduler }) => {
      const { context, records } = syncStage(pod, scheduler);
      const call$ = journaled(context, 'CreateContainer', { container: 'main' }, timer(ms, scheduler));
      expectObservable(call$).toBe(`${ms}ms (a|)`, { a: 0 });
      flush();
      expect(records.map(({ kind }) => kind)).toEqual(kinds);
      expect(records.at(-1)).toMatchObject({ call: 'CreateContainer', container: 'main', durationMs: ms });
    })();
  });

  it(
    'that stops a container is slow only when its grace period is over, too',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { context, records } = syncStage(pod, scheduler, { runtime: { stopContainer: () => NEVER } });
      const kill$ = killContainer(context, { id: 'id', name: 'main', graceSeconds: 30 });
      const times: number[] = [];
      const told = { ...context, waitsFor: () => times.push(scheduler.now()) };
      expectObservable(killContainer(told, { id: 'id', name: 'main', graceSeconds: 30 }), '60s !').toBe('-');
      expectObservable(kill$, '60s !').toBe('-');
      flush();
      expect(times).toEqual([40_000]);
      expect(records.filter(({ kind }) => kind === 'call-slow')).toMatchObject([{ call: 'StopContainer' }, {}]);
    }),
  );
});

describe('reading a pod', () => {
  it(
    'that takes longer than 10 s is in the journal, and nothing else is',
    marbles(({ expectObservable, flush, scheduler }) => {
      const { context, records } = syncStage(pod, scheduler);
      const about = { pod: podRef(pod), causes: ['why'] };
      expectObservable(journalIfSlow(context.ports, about, EMPTY)).toBe('|');
      expectObservable(journalIfSlow(context.ports, about, NEVER), '60s !').toBe('-');
      flush();
      expect(records).toEqual([{ kind: 'call-slow', waitedMs: 10_000, ...about }]);
    }),
  );
});
