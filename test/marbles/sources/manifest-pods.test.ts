import { concat, defer, map, NEVER, type Observable, of } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { describe, it } from 'vitest';
import type { ManifestFile, ManifestListing } from '../../../src/model/config/fold-manifest-listing.js';
import type { SourceEvent } from '../../../src/model/pod/pod-set.js';
import { manifestPods } from '../../../src/sources/manifest-pods.js';
import { marbles } from '../marbles.js';

const timing = (scheduler: TestScheduler) => ({
  periodMs: 20_000,
  quietMs: 10,
  retryMs: 1_000,
  maxRetryMs: 20_000,
  scheduler,
});

const file = (name: string, pod = name): ManifestFile => {
  const text = `{apiVersion: v1, kind: Pod, metadata: {name: ${pod}}, spec: {containers: [{name: c, image: i}]}}`;
  return { file: name, content: { kind: 'text', text, digest: text } };
};
const files = (...found: readonly ManifestFile[]): ManifestListing => ({ kind: 'files', files: found });
const MISSING: ManifestListing = { kind: 'missing' };

/** What each look finds: the value of the newest marble. */
const disk = (scheduler: TestScheduler, marble: string, listings: Readonly<Record<string, ManifestListing>>) => {
  let now: ManifestListing = MISSING;
  scheduler.createHotObservable(marble, listings).subscribe((listing) => (now = listing));
  return () => defer(() => of(now));
};

/** The names of the pods, with `?` if there may be more; 0 for none, and P for a problem. */
const named = (event: SourceEvent): string => {
  if (event.kind === 'problem') return 'P';
  return `${event.pods.map(({ metadata }) => metadata.name.replace('-n', '')).join('') || '0'}${event.isPartial ? '?' : ''}`;
};

const podsOf = (
  scheduler: TestScheduler,
  list: () => Observable<ManifestListing>,
  watch$: Observable<unknown> = NEVER,
) =>
  manifestPods(
    { list, watch: () => concat(of('begun'), watch$), isPassing: () => true },
    { path: 'm', nodeName: 'n' },
    timing(scheduler),
  ).pipe(map(named));

describe('manifestPods', () => {
  it(
    'lets a file that vanishes count as gone when a listing 2 s after the first one misses it, too',
    marbles(({ hot, expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x 4999ms y', { x: files(file('a'), file('b')), y: files(file('b')) });
      // Seen at 5010 ms.
      const change$ = hot('         5s c');
      const expected = '            t 7009ms b';
      expectObservable(podsOf(scheduler, list, change$), '30s !').toBe(expected, { t: 'ab', b: 'b' });
    }),
  );

  it(
    'removes nothing for any event of a watch in these 2 s',
    marbles(({ hot, expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x 4999ms y', { x: files(file('a')), y: files() });
      const change$ = hot('         5s c 499ms c 499ms c 499ms c 499ms c 499ms c');
      const expected = '            a 7009ms (0)';
      expectObservable(podsOf(scheduler, list, change$), '30s !').toBe(expected);
    }),
  );

  it(
    'says nothing of a folder that is missing for 1.9 s',
    marbles(({ hot, expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x 4999ms y 1899ms x', { x: files(file('a')), y: MISSING });
      const change$ = hot('         5s c 1899ms c');
      expectObservable(podsOf(scheduler, list, change$), '60s !').toBe('a');
    }),
  );

  it(
    'says of a folder that stays missing that it holds no pods, 2 s after it was first missing',
    marbles(({ hot, expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x 4999ms y', { x: files(file('a')), y: MISSING });
      const change$ = hot('         5s c');
      const expected = '            a 7009ms (P0)';
      expectObservable(podsOf(scheduler, list, change$), '60s !').toBe(expected);
    }),
  );

  it(
    'waits as long at its start, since the pods of a folder that is just being replaced may run',
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(podsOf(scheduler, disk(scheduler, 'x', { x: MISSING })), '60s !').toBe('P 1999ms 0');
    }),
  );

  it(
    'takes a folder that is moved away while it is read for the first time for one that may hold more pods, and emits all when it is back',
    marbles(({ hot, expectObservable, scheduler }) => {
      const vanished = (name: string): ManifestFile => ({ file: name, content: { kind: 'vanished' } });
      const list = disk(scheduler, 'x 49ms y', {
        x: files(file('a'), vanished('b'), vanished('c')),
        y: files(file('a'), file('b'), file('c')),
      });
      // Seen at 60 ms.
      const change$ = hot('         50ms c');
      const expected = '            p 59ms w';
      expectObservable(podsOf(scheduler, list, change$), '60s !').toBe(expected, { p: 'a?', w: 'abc' });
    }),
  );

  it(
    'takes it for whole 2 s later if they are still missing',
    marbles(({ expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x', { x: files(file('a'), { file: 'b', content: { kind: 'vanished' } }) });
      expectObservable(podsOf(scheduler, list), '60s !').toBe('p 1999ms w', { p: 'a?', w: 'a' });
    }),
  );

  it(
    'reads a new file and a changed one at once while another is in doubt',
    marbles(({ hot, expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x 4999ms y 999ms z', {
        x: files(file('a'), file('b')),
        y: files(file('b'), file('c')),
        z: files(file('b', 'd'), file('c')),
      });
      const change$ = hot('         5s c 999ms c');
      const expected = '            x 5009ms y 999ms z 999ms e';
      const sets = { x: 'ab', y: 'abc', z: 'adc', e: 'dc' };
      expectObservable(podsOf(scheduler, list, change$), '60s !').toBe(expected, sets);
    }),
  );

  it(
    'gives the name of a pod to another file only when the doubt is over',
    marbles(({ hot, expectObservable, scheduler }) => {
      const list = disk(scheduler, 'x 4999ms y', { x: files(file('b', 'p')), y: files(file('a', 'p'), file('q')) });
      const change$ = hot('         5s c');
      // The last set has the same names, but the pod of another file is another pod.
      const expected = '            p 5009ms x 1999ms x';
      expectObservable(podsOf(scheduler, list, change$), '60s !').toBe(expected, { p: 'p', x: 'pq' });
    }),
  );
});
