import { defer, EMPTY, ignoreElements, map, NEVER, type Observable, tap, throwError, timer } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { Node } from '../../../src/model/node/node.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { podSet, type SourceEvent, sourceProblem } from '../../../src/model/pod/pod-set.js';
import { withFreshNode } from '../../../src/streams/node/with-fresh-node.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

/** A capital letter wants a node with that label. */
const wanting = (uid: string): Pod => aPod({ uid, source: 'api', spec: { nodeSelector: { zone: uid } } });
const plain = (uid: string): Pod => aPod({ uid, source: 'api' });
const podOf = (letter: string): Pod => (letter === letter.toUpperCase() ? wanting(letter) : plain(letter));
const setOf = (letters: string): SourceEvent => podSet([...letters].map(podOf));
const problem = sourceProblem({ severity: 'error', message: 'no' });

interface Stage {
  node: Node | undefined;
  readonly reads: number[];
}
const aStage = (): Stage => ({ node: { metadata: { name: 'node-1', labels: {} } }, reads: [] });

type Helpers = Parameters<Parameters<typeof marbles>[0]>[0];
/** Sets by their pods. */
const told = ({ scheduler }: Helpers, stage: Stage, source: Observable<SourceEvent>, read$: Observable<never>) =>
  source.pipe(
    withFreshNode({
      node: () => stage.node,
      refresh$: defer(() => {
        stage.reads.push(scheduler.now());
        return read$;
      }),
      scheduler,
    }),
    map((event) => (event.kind === 'set' ? event.pods.map(({ metadata }) => metadata.uid).join('') : 'a problem')),
  );
const label = (stage: Stage, zone: string) => (stage.node = { metadata: { name: 'node-1', labels: { zone } } });

describe('a pod that wants another node', () => {
  it(
    'waits for the Node to be read, and no other pod does',
    marbles((t) => {
      const stage = aStage();
      const sets = { a: setOf('a'), b: setOf('aB'), c: setOf('aBc'), p: problem };
      const read$ = timer(6, t.scheduler).pipe(
        tap(() => label(stage, 'B')),
        ignoreElements(),
      );
      const source = '  a--b-p-c--|   ';
      const expected = 'a--b-p-c-r|   ';
      const values = { a: 'a', b: 'a', c: 'ac', r: 'aBc', p: 'a problem' };
      t.expectObservable(told(t, stage, t.hot(source, sets), read$)).toBe(expected, values);
      t.flush();
      expect(stage.reads).toEqual([3]);
    }),
  );

  it(
    'waits once, and is judged by what is known where the Node cannot be read',
    marbles((t) => {
      const stage = aStage();
      const sets = { a: setOf(''), b: setOf('B'), c: setOf('Bc') };
      const failed$ = throwError(() => new Error('no'));
      const source = '  a--b----c-| ';
      const expected = 'a--(br)-c-| ';
      const values = { a: '', b: '', r: 'B', c: 'Bc' };
      t.expectObservable(told(t, stage, t.hot(source, sets), failed$)).toBe(expected, values);
      t.flush();
      expect(stage.reads).toEqual([3]);
    }),
  );

  it(
    'waits no longer than 2 s',
    marbles((t) => {
      const stage = aStage();
      const sets = { a: setOf(''), b: setOf('B') };
      const expected = 'a--b 1999ms r';
      t.expectObservable(told(t, stage, t.hot('a--b', sets), NEVER), '4s !').toBe(expected, { a: '', b: '', r: 'B' });
    }),
  );

  it(
    'has the Node read again where it came while that was under way',
    marbles((t) => {
      const stage = aStage();
      const sets = { a: setOf(''), b: setOf('B'), c: setOf('BC'), d: setOf('C') };
      const read$ = timer(4, t.scheduler).pipe(ignoreElements());
      const source = '  a--b-c--d-------| ';
      const expected = 'a--b-c-rd--s----| ';
      const values = { a: '', b: '', c: '', r: 'B', d: '', s: 'C' };
      t.expectObservable(told(t, stage, t.hot(source, sets), read$)).toBe(expected, values);
      t.flush();
      expect(stage.reads).toEqual([3, 7]);
    }),
  );

  it(
    'goes on at once in the first set, and where it has been started, has ended, or is on its way out',
    marbles((t) => {
      const stage = aStage();
      const started = { ...wanting('S'), status: { startTime: '2026-01-01T00:00:00Z' } };
      const ended = { ...wanting('E'), status: { phase: 'Failed' } };
      const leaving = aPod({
        uid: 'L',
        spec: { nodeSelector: { zone: 'L' } },
        deletionTimestamp: '2026-01-01T00:00:00Z',
      });
      const sets = { a: setOf('A'), b: podSet([wanting('A'), started, ended, leaving]) };
      t.expectObservable(told(t, stage, t.hot('a--b|', sets), EMPTY)).toBe('a--b|', { a: 'A', b: 'ASEL' });
      t.flush();
      expect(stage.reads).toEqual([]);
    }),
  );

  it(
    'goes on at once where there is no Node to be read, and where the Node is such a one',
    marbles((t) => {
      const stage = { ...aStage(), node: undefined as Node | undefined };
      const sets = { a: setOf(''), b: setOf('B'), c: setOf('BC') };
      const source$ = t.hot('a--b-c|', sets).pipe(tap((event) => event === sets.c && label(stage, 'C')));
      t.expectObservable(told(t, stage, source$, EMPTY)).toBe('a--b-c|', { a: '', b: 'B', c: 'BC' });
      t.flush();
      expect(stage.reads).toEqual([]);
    }),
  );
});
