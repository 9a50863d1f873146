import { catchError, map, merge, mergeMap, NEVER, type Observable, of, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ClusterTrustBundle } from '../../../src/model/references/referenced-object.js';
import type { TrustBundleEvent } from '../../../src/model/references/known-trust-bundles.js';
import { objectKeeper } from '../../../src/streams/references/kept-objects.js';
import { trustBundles } from '../../../src/streams/references/trust-bundles.js';
import { aPod } from '../../support/a-pod.js';
import { memoryLastKnown } from '../../support/memory-last-known.js';
import { marbles } from '../marbles.js';

const bundle = (name: string, resourceVersion: string): ClusterTrustBundle => ({
  metadata: { name, uid: `uid-${name}`, resourceVersion },
  spec: { trustBundle: '' },
});
const problem = (code?: number): TrustBundleEvent => ({
  ...{ kind: 'problem', step: 'list', severity: 'error' },
  error: new ApiError({ ...(code && { code }), message: code ? 'forbidden' : 'away' }),
});
const events: Readonly<Record<string, TrustBundleEvent>> = {
  r: { kind: 'replaced', objects: [bundle('a', '1'), bundle('b', '2')], resourceVersion: '2' },
  e: { kind: 'replaced', objects: [], resourceVersion: '9' },
  p: { kind: 'put', object: bundle('c', '3') },
  d: { kind: 'deleted', object: bundle('a', '4') },
  n: { kind: 'not-served' },
  x: problem(),
  f: problem(403),
  o: { kind: 'recovered' },
};
const silent = { debug: () => 0, info: () => 0, warn: () => 0, error: () => 0 };
const sources = [{ clusterTrustBundle: { name: 'a', path: 'ca.pem' } }];
const user = (uid: string) => aPod({ uid, spec: { volumes: [{ name: 'v', projected: { sources } }] } });
const other = (uid: string) => aPod({ uid, spec: { volumes: [{ name: 'v', emptyDir: {} }] } });

/** The names that a read finds, or why it finds none. */
const namesIn = (read: ReturnType<typeof trustBundles>['read']): Observable<string> =>
  read().pipe(
    map((found) => found.map(({ name }) => name).join('')),
    catchError((error: unknown) => of((error as Error).message)),
  );

describe('the trust bundles of a cluster', () => {
  it(
    'are watched from the first pod that refers to one to the last, and again for a later one',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const step$ = hot('o-p-q-r-s---p-n', {
        o: ['+', other('o')],
        p: ['+', user('p')],
        q: ['+', user('q')],
        r: ['-', user('p')],
        // A newer spec of the pod refers to none.
        s: ['+', other('q')],
        n: ['-', user('p')],
      } as const);
      const watch = cold('-r');
      const bundles = trustBundles(watch.pipe(map(() => events['r']!)), undefined, scheduler);
      const done$ = step$.pipe(
        tap(([how, pod]) => (how === '+' ? bundles.register(pod) : bundles.unregister(pod))),
        mergeMap(() => NEVER),
      );
      expectObservable(merge(bundles.run$, done$), '----------------!').toBe('');
      expectSubscriptions(watch.subscriptions).toBe(['--^-----!', '------------^-!']);
    }),
  );

  it(
    'change with each event that brings another version, and with the first list',
    marbles(({ cold, scheduler, expectObservable }) => {
      const bundles = trustBundles(cold('-e-r-r-x-o-r-p-d-n-r', events), undefined, scheduler);
      const expected = '                  -c-c---------c-c---c';
      bundles.register(user('p'));
      expectObservable(bundles.changed$.pipe(map(({ kind }) => kind)), '---------------------!').toBe(expected, {
        c: 'ClusterTrustBundles',
      });
      expectObservable(bundles.run$, '---------------------!').toBe('');
    }),
  );

  it(
    'are read as they are, also after failures of the server, and not from a server without them',
    marbles(({ cold, hot, scheduler, expectObservable }) => {
      const bundles = trustBundles(cold('--r-p-d-x-f-n--e', events), undefined, scheduler);
      const read = hot('                 a--b-c-d-e-f-g--h');
      bundles.register(user('p'));
      const seen$ = read.pipe(mergeMap(() => namesIn(bundles.read)));
      const expected = '                 --ab-c-d-e-f-g--h';
      expectObservable(seen$, '-----------------!').toBe(expected, {
        ...{ a: 'ab', b: 'ab', c: 'abc', d: 'bc', e: 'bc', f: 'bc', h: '' },
        g: 'ClusterTrustBundle projection is not supported: the API server has no clustertrustbundles.certificates.k8s.io in a version that this agent reads (v1, v1beta1, v1alpha1)',
      });
      expectObservable(bundles.run$, '-----------------!').toBe('');
    }),
  );

  it.each([
    ['', 'ClusterTrustBundle informer has not yet synced'],
    ['f', 'ClusterTrustBundle informer has not yet synced: forbidden'],
    ['x', 'ClusterTrustBundle informer has not yet synced: away'],
  ])('are waited for 10 s before the first list (%s)', (said, expected) =>
    marbles(({ cold, scheduler, expectObservable }) => {
      const bundles = trustBundles(cold(said, events), undefined, scheduler);
      bundles.register(user('p'));
      expectObservable(bundles.run$, '11s !').toBe('');
      expectObservable(namesIn(bundles.read)).toBe('10s (x|)', { x: expected });
    })(),
  );

  it(
    'are those that an earlier agent knew while the server is away, or silent for 10 s',
    marbles(({ cold, scheduler, expectObservable }) => {
      const before = { metadata: {}, items: [bundle('k', '1')] };
      const keptOf = () => objectKeeper(memoryLastKnown({ 'ClusterTrustBundleList /': before }), silent);
      const [one, two, three] = [keptOf(), keptOf(), keptOf()];
      const bundlesOf = (said: string, keeper: ReturnType<typeof keptOf>) => {
        const bundles = trustBundles(cold(said, events), keeper.of('ClusterTrustBundleList'), scheduler);
        bundles.register(user('p'));
        expectObservable(merge(keeper.run$, bundles.run$), '11s !').toBe('');
        return namesIn(bundles.read);
      };
      expectObservable(bundlesOf('--x', one)).toBe('--(k|)');
      expectObservable(bundlesOf('', two)).toBe('10s (k|)');
      // The answer of the server counts more.
      expectObservable(bundlesOf('-f', three)).toBe('10s (x|)', {
        x: 'ClusterTrustBundle informer has not yet synced: forbidden',
      });
    }),
  );

  it(
    'are kept with every change, and dropped with the last pod',
    marbles(({ cold, scheduler, expectObservable }) => {
      const disk = memoryLastKnown();
      const keeper = objectKeeper(disk, silent);
      const bundles = trustBundles(cold('-r-p-d', events), keeper.of('ClusterTrustBundleList'), scheduler);
      bundles.register(user('p'));
      expectObservable(merge(keeper.run$, bundles.run$), '---------!').toBe('');
      scheduler.schedule(() => {
        const key = 'ClusterTrustBundleList /';
        expect(disk.did).toEqual([`write ${key} 2`, `write ${key} 3`, `write ${key} 4`]);
        bundles.unregister(user('p'));
      }, 7);
      scheduler.schedule(() => expect([...disk.onDisk.keys()]).toEqual([]), 8);
    }),
  );
});
