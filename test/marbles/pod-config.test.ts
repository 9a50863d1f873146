import { map, type Observable, Subject, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Pod } from '../../src/model/pod.js';
import type { PodConfigUpdate } from '../../src/model/pod-config.js';
import { podSet, type SourceEvent, sourceProblem } from '../../src/model/pod-set.js';
import { podConfig, type PodConfigOptions } from '../../src/streams/pod-config.js';
import { inTurn, marbles } from './marbles.js';

const podOf = (uid: string, priority = 0): Pod => ({
  metadata: { uid, name: uid, namespace: 'default' },
  spec: { containers: [], priority },
});

const sets: Readonly<Record<string, SourceEvent>> = {
  0: podSet([]),
  a: podSet([podOf('a')]),
  b: podSet([podOf('b')]),
  c: podSet([podOf('a', 1), podOf('c')]),
  p: sourceProblem({ severity: 'warning', message: 'hm' }),
};

const SIGNS = { ADD: '+', UPDATE: '~', DELETE: 'x', REMOVE: '-', RECONCILE: '=' };

/** `file+a`, `file-a,c`, `file! hm`: one short word per update. */
const word = (update: PodConfigUpdate): string =>
  update.kind === 'problem'
    ? `${update.source}! ${update.problem.message}`
    : `${update.source}${SIGNS[update.op]}${update.pods.map(({ metadata }) => metadata.uid).join()}`;

const words = (sources: Readonly<Record<string, Observable<SourceEvent>>>, options: PodConfigOptions) =>
  podConfig(sources, options).pipe(map(word));

describe('podConfig', () => {
  it(
    'says what each set changes, all of it at once, and ends with its last source',
    marbles(({ hot, expectObservable, expectSubscriptions, scheduler }) => {
      const file$ = hot(' a---c-------0-|       ', sets);
      const http$ = hot(' --0-------b-----b-|   ', sets);
      const expected = '  1-2-(34)--5-6-----|   ';
      const values = { 1: 'file+a', 2: 'http+', 3: 'file+c', 4: 'file~a', 5: 'http+b', 6: 'file-a,c' };
      expectObservable(words({ file: file$, http: http$ }, { scheduler })).toBe(expected, values);
      expectSubscriptions(file$.subscriptions).toBe('^-------------!');
      expectSubscriptions(http$.subscriptions).toBe('^-----------------!');
    }),
  );

  it(
    'passes problems on under the name of their source, without counting the source as heard',
    marbles(({ hot, expectObservable, scheduler }) => {
      const mine$ = hot('  p-0-p-|', sets);
      const expected = '   1-2-1-|';
      expectObservable(words({ mine: mine$ }, { scheduler })).toBe(expected, { 1: 'mine! hm', 2: 'mine+' });
    }),
  );

  it(
    'keeps the pods of a source that fails, and lets the others go on while it is tried again',
    marbles(({ cold, hot, expectObservable, expectSubscriptions, scheduler }) => {
      const broken = cold('   a-#', sets);
      const again = cold('    c--', sets);
      const mine$ = inTurn(broken, again);
      const http$ = hot('     ----b-------', sets);
      const expected = '      1-2-3-(45)--';
      const unsub = '         -----------!';
      const sources = { mine: mine$, http: http$ };
      const values = {
        1: 'mine+a',
        2: 'mine! pod source mine failed and will be tried again: error',
        3: 'http+b',
        4: 'mine+c',
        5: 'mine~a',
      };
      expectObservable(words(sources, { retryMs: 4, maxRetryMs: 40, scheduler }), unsub).toBe(expected, values);
      expectSubscriptions(broken.subscriptions).toBe('^-!');
      expectSubscriptions(again.subscriptions).toBe('------^----!');
      expectSubscriptions(http$.subscriptions).toBe('^----------!');
    }),
  );

  it(
    'doubles the delay of a source that keeps failing: 1, 2, 4, 8, 16, then 30 s',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const broken = cold<SourceEvent>('#');
      const update$ = podConfig({ mine: broken }, { scheduler });
      const expected = 'p 999ms p 1999ms p 3999ms p 7999ms p 15999ms p 29999ms p';
      expectObservable(update$.pipe(map(() => 'p')), '80s !').toBe(expected);
      expectSubscriptions(broken.subscriptions).toBe(
        ['', '1s', '3s', '7s', '15s', '31s', '61s'].map((at) => `${at} (^!)`),
      );
    }),
  );

  it('keeps the updates of a set together even when handling the first makes a source emit', () => {
    const file$ = new Subject<SourceEvent>();
    const http$ = new Subject<SourceEvent>();
    const seen: string[] = [];
    const subscription = words({ file: file$, http: http$ }, {})
      .pipe(
        tap((update) => {
          if (update === 'file+c') http$.next(sets['b']!);
        }),
      )
      .subscribe((update) => seen.push(update));
    file$.next(sets['a']!);
    file$.next(sets['c']!);
    subscription.unsubscribe();
    expect(seen).toEqual(['file+a', 'file+c', 'file~a', 'http+b']);
    expect([file$.observed, http$.observed]).toEqual([false, false]);
  });

  it(
    'starts over for each subscriber, and stamps pods with the time of the scheduler',
    marbles(({ cold, expectObservable, scheduler }) => {
      const update$ = podConfig({ file: cold('-a|', sets) }, { scheduler }).pipe(
        map((update) =>
          update.kind === 'pods' ? update.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'] : undefined,
        ),
      );
      expectObservable(update$).toBe('-s|', { s: '1970-01-01T00:00:00.001000000Z' });
      expectObservable(update$, '5ms ^---').toBe('5ms -s|', { s: '1970-01-01T00:00:00.006000000Z' });
    }),
  );

  it(
    'ends at once without sources',
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(podConfig({}, { scheduler })).toBe('|');
    }),
  );

  it(
    'stamps what it sees first by the wall clock, not by the clock of the scheduler',
    marbles(({ hot, expectObservable, scheduler }) => {
      const seenAt = (update: PodConfigUpdate) =>
        update.kind === 'pods' ? update.pods[0]?.metadata.annotations?.['kubernetes.io/config.seen'] : undefined;
      const options = { scheduler, wallClock: () => Date.parse('2026-01-02T03:04:05.678Z') };
      const seen$ = podConfig({ file: hot('--a', sets) }, options).pipe(map(seenAt));
      expectObservable(seen$, '---!').toBe('--s', { s: '2026-01-02T03:04:05.678000000Z' });
    }),
  );
});
