import { ignoreElements, merge, type Observable, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { CONFIG_HASH_ANNOTATION, CONFIG_MIRROR_ANNOTATION, type Pod } from '../../../src/model/pod/pod.js';
import { STATUS_SYNC_PERIOD_MS, statusManager } from '../../../src/streams/status/status-manager.js';
import { aPod } from '../../support/a-pod.js';
import { metricLines } from '../../support/metric-lines.js';
import { marbles } from '../marbles.js';
import { added, podOf, says, stageOf, status, type Stage } from './status-stage.js';

const outage = new ApiError({ message: 'connection refused' });
const names = { a: 'PATCH a', b: 'PATCH b', g: 'GET a', x: 'DELETE a' };

describe('a changed status', () => {
  it(
    'is written at once, pods side by side, what changes during a write as soon as it has ended, of several only the last',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler, { tookMs: (request) => (request === 'PATCH a' ? 6 : 2) });
      for (const name of ['a', 'b']) added(stage, podOf(name));
      const change = {
        p: says(stage, 'a', 'Pending'),
        q: says(stage, 'b', 'Pending'),
        r: says(stage, 'a', 'Pending', { reason: 'replaced' }),
        s: says(stage, 'a', 'Running'),
      };
      const change$ = hot(' -pqrs-----', change);
      const expected = '    -ab----a--';
      const unsub = '       ----------!';
      expectObservable(stage.during(change$), unsub).toBe(expected, names);
      flush();
      expect(stage.patches.map((patch) => patch['status'])).toEqual([
        { phase: 'Pending', startTime: 'then' },
        { phase: 'Pending', startTime: 'then' },
        { phase: 'Running' },
      ]);
    }),
  );

  it(
    'that waits for its turn is sent as it is by then, or not at all',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler, { turnMs: () => 5 });
      added(stage, podOf('a'));
      const change = {
        p: says(stage, 'a', 'Pending'),
        r: says(stage, 'a', 'Running'),
        b: says(stage, 'a', 'Running', { message: 'back and forth' }),
        c: says(stage, 'a', 'Running'),
      };
      const change$ = hot(' p--r-------bc---', change);
      const expected = '    -----a----------';
      expectObservable(stage.during(change$), '9s !').toBe(expected, names);
      flush();
      expect(stage.patches.map((patch) => patch['status'])).toEqual([{ phase: 'Running', startTime: 'then' }]);
      expect(stage.observed).toEqual(['podStatusSynced 0.006', 'podStatusSynced 0.005']);
    }),
  );

  it(
    'names the pod and the version that the watch has shown, later the one that the last write made',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a'));
      const change = { p: says(stage, 'a', 'Pending'), r: says(stage, 'a', 'Running'), e: () => stage.echo('a') };
      const change$ = hot(' p--r--e', change);
      const expected = '    a--a---';
      expectObservable(stage.during(change$), '------!').toBe(expected, names);
      flush();
      expect(stage.patches.map((patch) => patch['metadata'])).toEqual([
        { uid: 'uid-a', resourceVersion: '1' },
        { uid: 'uid-a', resourceVersion: '2' },
      ]);
      expect(stage.written).toEqual(['a Pending', 'a Running']);
    }),
  );

  it(
    'is made from the status of the API after a write of another client, whose conditions stay',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a'));
      const foreign = { type: 'example.com/gate', status: 'True' };
      const change = {
        w: () => stage.write({ ...podOf('a'), status: { conditions: [foreign] } }),
        r: says(stage, 'a', 'Running'),
      };
      const change$ = hot(' w-r----', change);
      const expected = '    --aga--';
      expectObservable(stage.during(change$), '------!').toBe(expected, names);
      flush();
      expect(stage.pod('a')?.status).toEqual({ conditions: [foreign], phase: 'Running', startTime: 'then' });
    }),
  );

  it(
    'of a pod that was made again under its name is not written',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a'));
      const change = { w: () => stage.write(podOf('a', { uid: 'another' })), r: says(stage, 'a', 'Running') };
      const change$ = hot(' w-r----', change);
      const expected = '    --ag---';
      expectObservable(stage.during(change$), '------!').toBe(expected, names);
      flush();
      expect(stage.pod('a')).not.toHaveProperty('status');
    }),
  );

  it(
    'that the API has already sends nothing, and neither does one of which only times of conditions differ',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      const condition = (lastTransitionTime: string) => ({ type: 'Ready', status: 'True', lastTransitionTime });
      const known = status('Running', { conditions: [condition('then')] });
      added(stage, { ...podOf('a'), status: { ...known, nominatedNodeName: '' } });
      const change = {
        r: says(stage, 'a', 'Running', { conditions: [condition('then')], message: '' }),
        t: says(stage, 'a', 'Running', { conditions: [condition('later')] }),
      };
      const change$ = hot(' r--t----', change);
      const expected = '    --------';
      expectObservable(stage.during(change$), '15s !').toBe(expected, names);
    }),
  );
});

describe('a write that failed', () => {
  it(
    'is repeated by the next pass or the next change, is said once, and counts from the first change',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      let isDown = true;
      const stage = stageOf(scheduler, { failure: () => (isDown ? outage : undefined) });
      added(stage, podOf('a'));
      const change = { p: says(stage, 'a', 'Pending'), r: says(stage, 'a', 'Running'), u: () => (isDown = false) };
      const change$ = hot(' p 999ms r 13999ms u', change);
      const expected = '    a 999ms a 8999ms a 9999ms a';
      expectObservable(stage.during(change$), '35s !').toBe(expected, names);
      flush();
      expect(stage.logged).toEqual(['warn the status of the pod could not be written; it is tried again']);
      expect(stage.observed).toEqual(['podStatusSynced 20.001']);
      expect(STATUS_SYNC_PERIOD_MS).toBe(10_000);
    }),
  );

  it(
    'delays no other pod, and neither does one that is slow',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler, { tookMs: (request) => (request === 'PATCH a' ? 60_000 : 1) });
      for (const name of ['a', 'b']) added(stage, podOf(name));
      const change = { p: says(stage, 'a', 'Pending'), q: says(stage, 'b', 'Pending'), r: says(stage, 'b', 'Running') };
      const change$ = hot(' p-q--r-', change);
      const expected = '    a-b--b-';
      expectObservable(stage.during(change$), '50s !').toBe(expected, names);
    }),
  );

  it(
    'is cancelled by an unsubscription',
    marbles(({ hot, cold, expectObservable, expectSubscriptions, scheduler }) => {
      const answer = cold<Pod>('-----------|');
      const stage = stageOf(scheduler);
      const pod = { ...podOf('a'), metadata: { ...podOf('a').metadata, resourceVersion: '1' } };
      stage.state.apply({ kind: 'pod-set', pod });
      const manager = statusManager({
        state: stage.state,
        api: { ...stage.api, patchLate: () => answer as Observable<unknown> as Observable<never> },
        metrics: metricLines().metrics,
        log: { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined },
        scheduler,
        wallClock: () => 0,
      });
      const change$ = hot('-r----', { r: says(stage, 'a', 'Running') }).pipe(
        tap((happen) => happen()),
        ignoreElements(),
      );
      expectObservable(merge(manager.run$, change$), '----!').toBe('-----');
      expectSubscriptions(answer.subscriptions).toBe('-^--!');
    }),
  );
});

describe('the full pass', () => {
  it(
    'every ten seconds writes a status again that another client has overwritten, once',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a'));
      const overwrite = () => {
        stage.write({ ...stage.pod('a')!, status: status('Pending') });
        stage.echo('a');
      };
      const change = { r: says(stage, 'a', 'Running'), e: () => stage.echo('a'), w: overwrite };
      const change$ = hot(' r-e 8s w 5s e', change);
      const expected = '    a 9999ms a';
      expectObservable(stage.during(change$), '35s !').toBe(expected, names);
      flush();
      expect(stage.pod('a')?.status?.phase).toBe('Running');
    }),
  );

  it(
    'does not repeat a field that an older API server does not keep',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler, { keeps: ({ phase, startTime } = {}) => ({ phase, startTime }) });
      added(stage, podOf('a'));
      const change = {
        r: says(stage, 'a', 'Running', { hostIPs: [{ ip: '10.0.0.1' }] }),
        e: () => stage.echo('a'),
        s: says(stage, 'a', 'Running', { hostIPs: [{ ip: '10.0.0.2' }] }),
      };
      const change$ = hot(' r-e 30s s-e', change);
      const expected = '    a 30002ms a';
      expectObservable(stage.during(change$), '60s !').toBe(expected, names);
      flush();
      expect(stage.patches).toHaveLength(2);
    }),
  );

  it(
    'holds an end back while containers could run, and writes it when they cannot',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      let couldRun = true;
      const stage = stageOf(scheduler, { couldRun: () => couldRun });
      added(stage, { ...podOf('a'), status: status('Running') });
      const change = {
        f: says(stage, 'a', 'Failed', { message: 'ended', podIP: '10.0.0.1' }),
        e: () => stage.echo('a'),
        o: () => (couldRun = false),
      };
      const change$ = hot(' f-e 11s o---', change);
      const expected = '    a 19999ms a';
      expectObservable(stage.during(change$), '35s !').toBe(expected, names);
      flush();
      const [first, second] = stage.patches.map((patch) => patch['status']);
      expect(first).toEqual({ podIP: '10.0.0.1' });
      expect(second).toEqual({ phase: 'Failed', message: 'ended' });
    }),
  );
});

describe('a pod that is to be deleted', () => {
  const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z' };
  const ends = (stage: Stage) => () =>
    void stage.state.apply({ kind: 'status', uid: 'uid-a', status: status('Failed'), isFinished: true });

  it(
    'goes from the API with the write that says its end, and from memory',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a', deleted));
      const change$ = hot(' -f----', { f: ends(stage) });
      const expected = '    -ax---';
      expectObservable(stage.during(change$), '25s !').toBe(expected, names);
      flush();
      expect(stage.pod('a')).toBeUndefined();
      expect(stage.state.statuses.get('uid-a')).toBeUndefined();
    }),
  );

  it(
    'long after its end goes as soon as the watch shows that it is to be deleted',
    marbles(({ hot, expectObservable, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a'));
      const remove = () => added(stage, { ...stage.pod('a')!, ...podOf('a', deleted), status: status('Failed') });
      const change$ = hot(' f--d---', { f: ends(stage), d: remove });
      const expected = '    a--x---';
      expectObservable(stage.during(change$), '25s !').toBe(expected, names);
    }),
  );

  it.each([
    ['there was no answer', outage],
    ['the server did not know it yet', new ApiError({ code: 404, reason: 'NotFound', message: 'not found' })],
  ])('is asked to go again by the next pass when %s, and stays while something of it is left', (_why, error) =>
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      let failures = 1;
      const stage = stageOf(scheduler, {
        failure: (request) => (request === 'DELETE a' && failures-- > 0 ? error : undefined),
      });
      added(stage, podOf('a', deleted));
      const change = { l: says(stage, 'a', 'Failed'), f: ends(stage), e: () => stage.echo('a') };
      const change$ = hot(' l-e-f--', change);
      const expected = '    a---x 9995ms x';
      expectObservable(stage.during(change$), '35s !').toBe(expected, names);
      flush();
      expect(stage.pod('a')).toBeUndefined();
    })(),
  );

  it(
    'is another one under its name: that one stays',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      added(stage, podOf('a', { ...deleted, phase: 'Failed' }));
      const swap = () => stage.write(podOf('a', { uid: 'another' }));
      const change$ = hot(' wf----', { w: swap, f: ends(stage) });
      expectObservable(stage.during(change$), '9s !').toBe('-ag---', names);
      flush();
      expect(stage.pod('a')?.metadata.uid).toBe('another');
    }),
  );
});

describe('a static pod', () => {
  const pod = aPod({ uid: 'uid-s', name: 's', annotations: { [CONFIG_HASH_ANNOTATION]: 'h1' } });
  const mirror = (hash: string) =>
    aPod({ uid: 'mirror', name: 's', source: 'api', annotations: { [CONFIG_MIRROR_ANNOTATION]: hash } });
  const asked = { s: 'PATCH s' };

  it(
    'has its status written to its mirror once there is one, which is never removed that way',
    marbles(({ hot, expectObservable, flush, scheduler }) => {
      const stage = stageOf(scheduler);
      stage.state.apply({ kind: 'pod-set', pod });
      const change = {
        r: says(stage, 's', 'Running'),
        o: () => added(stage, mirror('h0')),
        m: () => added(stage, mirror('h1')),
        d: () =>
          added(stage, { ...stage.pod('s')!, metadata: { ...stage.pod('s')!.metadata, deletionTimestamp: 'now' } }),
        f: () => void stage.state.apply({ kind: 'status', uid: 'uid-s', status: status('Failed'), isFinished: true }),
      };
      const change$ = hot(' r--o--m--d--f', change);
      const expected = '    ------s-----s';
      expectObservable(stage.during(change$), '25s !').toBe(expected, asked);
      flush();
      expect(stage.patches.map((patch) => (patch['metadata'] as Pod['metadata']).uid)).toEqual(['mirror', 'mirror']);
      expect(stage.pod('s')?.status?.phase).toBe('Failed');
    }),
  );
});
