import { defer, filter, ignoreElements, map, merge, mergeMap, NEVER, type Observable, of, tap } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import type { StatusResponse } from '../../../src/generated/runtime/v1/api.js';
import { EVENTED_PLEG } from '../../../src/model/pleg/pleg.js';
import type { Wake } from '../../../src/model/pod-workers/wake.js';
import { holdWhileUnhealthy } from '../../../src/streams/runtime-health/hold-while-unhealthy.js';
import { runtimeHealth } from '../../../src/streams/runtime-health/runtime-health.js';
import { loopStage } from '../../support/loop-stage.js';
import { aPod } from '../../support/a-pod.js';
import { expectLanes } from '../lanes.js';
import { inTurn, marbles } from '../marbles.js';

const reply = (isReady: boolean, isNetworkReady = isReady): StatusResponse => ({
  status: {
    conditions: [
      { type: 'RuntimeReady', status: isReady, reason: 'r', message: 'm' },
      { type: 'NetworkReady', status: isNetworkReady, reason: 'n', message: 'm' },
    ],
  },
  info: {},
  runtimeHandlers: [],
  features: undefined,
});
const NO_STATUS = 'container runtime status check may not have completed yet';
const NO_RELIST = 'PLEG is not healthy: pleg has yet to be successful';
const NO_NETWORK = 'container runtime network not ready: NetworkReady=false reason:n message:m';

const HOUR_MS = 3_600_000;
const OLD_RELIST = 'PLEG is not healthy: pleg was last seen active 1h0m0.005s ago; threshold is 3m0s';
const DOWN = 'container runtime is down';
const setup = (scheduler: TestScheduler, status$: Observable<StatusResponse>) => {
  const stage = loopStage({ scheduler });
  return { ...stage, health: runtimeHealth({ ...stage.context, runtime: { status: () => status$ } }) };
};

describe('the health of the runtime', () => {
  it(
    'needs a status and a relist, and ends when the last status is 30 s old',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const status$ = inTurn<StatusResponse>(cold('--(y|)', { y: reply(true) }));
      const { health } = setup(scheduler, status$);
      const relist$ = hot('     ---r', {}).pipe(tap(() => health.relisted(scheduler.now())));
      const read$ = hot('       a-b-c 29997ms d').pipe(map(health.problem));
      const running$ = merge(relist$, health.state$).pipe(ignoreElements());
      const expected = '        a-b-c 29997ms d';
      const problems = { a: `[${NO_STATUS}, ${NO_RELIST}]`, b: `[${NO_STATUS}, ${NO_RELIST}]`, c: undefined, d: DOWN };
      expectObservable(merge(read$, running$), '31s !').toBe(expected, problems);
    }),
  );

  it(
    'allows a relist of the age that the cadence says',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const { health } = setup(scheduler, cold<StatusResponse>('(y|)', { y: reply(true) }));
      const events$ = hot('     ----- 180s e').pipe(tap(() => health.setCadence(EVENTED_PLEG)));
      const read$ = hot('       --a-- 179998ms b-c').pipe(map(() => health.problem()?.includes('PLEG') ?? false));
      const relist$ = hot('     r').pipe(tap(() => health.relisted(scheduler.now())));
      const running$ = merge(relist$, events$, health.state$).pipe(ignoreElements());
      const expected = '        --a-- 179998ms b-c';
      expectObservable(merge(read$, running$), '181s !').toBe(expected, { a: false, b: true, c: false });
    }),
  );

  it(
    'is not that of the network, which the Node reports only; a check outside the period counts, one that fails does not',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const status$ = inTurn<StatusResponse>(cold('(y|)', { y: reply(true, false) }), cold('#'));
      const { health } = setup(scheduler, status$);
      health.relisted(0);
      const read$ = hot('-a-b').pipe(map(() => [health.problem(), health.networkProblem(), health.report().problems]));
      const reading$ = hot('c-c', {}).pipe(mergeMap(() => health.read$));
      const found = [undefined, NO_NETWORK, [NO_NETWORK]];
      expectObservable(merge(read$, reading$), '4ms !').toBe('-a-b', { a: found, b: found });
    }),
  );

  it(
    'keeps the time of a ready status that was read outside the period, when the next one in the period is not ready',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const [ready$, notReady$] = [reply(true), reply(false)].map((y) => cold<StatusResponse>('(y|)', { y }));
      const { state, health } = setup(scheduler, inTurn<StatusResponse>(ready$!, ready$!, notReady$!));
      const reading$ = hot('4s r', {}).pipe(mergeMap(() => health.read$));
      const read$ = hot('   -a 3999ms b 998ms c').pipe(map(() => state.value.runtime.runtime.readyAt));
      const expected = '    -a 3999ms b 998ms c';
      const running$ = merge(reading$, health.state$.pipe(ignoreElements()));
      expectObservable(merge(running$, read$), '6s !').toBe(expected, { a: 0, b: 4_000, c: 4_000 });
    }),
  );

  it(
    'is recorded and logged with each change, once',
    marbles(({ cold, hot, expectObservable, flush, scheduler }) => {
      const { health, records, logged } = setup(scheduler, cold<StatusResponse>('(y|)', { y: reply(true) }));
      const relist$ = hot('r', {}).pipe(
        tap(() => health.relisted(scheduler.now())),
        ignoreElements(),
      );
      const reading$ = hot('--c', {}).pipe(mergeMap(() => health.read$));
      const check$ = hot('-aa-bb', {}).pipe(mergeMap(() => health.check$));
      const expected = ' -aa-bb';
      const running$ = merge(health.journal$, relist$, reading$);
      expectObservable(merge(running$, check$), '7ms !').toBe(expected, { a: NO_STATUS, b: undefined });
      flush();
      expect(records.map((record) => record.kind === 'runtime-health' && record.healthy)).toEqual([false, true]);
      expect(logged.map((line) => line.split(' ')[0])).toEqual(['error', 'info']);
    }),
  );
});

describe('the health that checks find', () => {
  it(
    'is what one would find now, and then each change that a check finds, in one order for all',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const { health } = setup(scheduler, cold<StatusResponse>('---(y|)', { y: reply(true) }));
      health.relisted(0);
      const check$ = hot(' -l---ll---------l', {}).pipe(mergeMap(() => health.check$));
      const late = '      ---------^--';
      const first = '     a----b';
      const second = '    ---------b';
      const seen = { a: NO_STATUS, b: undefined };
      expectObservable(merge(check$, health.state$).pipe(ignoreElements()), '20ms !').toBe('');
      expectObservable(health.health$).toBe(first, seen);
      expectObservable(health.health$, late).toBe(second, seen);
    }),
  );

  it('has a check that a subscriber makes while it receives the first value', () => {
    const { health } = setup(new TestScheduler(() => true), NEVER);
    const seen: (string | undefined)[] = [];
    health.relisted(0);
    const answered$ = health.health$.pipe(
      tap((problem) => seen.push(problem)),
      filter((_, index) => index === 0),
      tap(() => health.relisted(-HOUR_MS)),
      mergeMap(() => health.check$),
    );
    answered$.subscribe();
    expect(seen).toHaveLength(2);
    expect(seen[1]).not.toBe(seen[0]);
  });

  it(
    'has the check of a subscriber after the one that it reacts to',
    marbles(({ cold, hot, expectObservable, flush, scheduler }) => {
      const { health } = setup(scheduler, cold<StatusResponse>('---(y|)', { y: reply(true) }));
      health.relisted(0);
      const orders: string[][] = [[], []];
      const seen$ = (index: number) => health.health$.pipe(tap((problem) => orders[index]?.push(problem ?? 'healthy')));
      // From within the change it finds the last relist to be old, and checks again.
      const again$ = seen$(0).pipe(
        filter((problem) => problem === undefined),
        tap(() => health.relisted(-HOUR_MS)),
        mergeMap(() => health.check$),
      );
      const check$ = hot('-----l', {}).pipe(mergeMap(() => health.check$));
      expectObservable(merge(check$, health.state$, again$, seen$(1)).pipe(ignoreElements()), '9ms !').toBe('');
      flush();
      expect(orders).toEqual([
        [NO_STATUS, 'healthy', OLD_RELIST],
        [NO_STATUS, 'healthy', OLD_RELIST],
      ]);
    }),
  );
});

describe('wakes of an unhealthy runtime', () => {
  it(
    'wait for checks after 100 ms, doubling to 5 s',
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const history: string[] = [];
      const check$ = defer(() => {
        history.push(`${scheduler.now()} check`);
        return of(scheduler.now() > 15_000 ? undefined : DOWN);
      });
      const wake$ = hot('w', { w: wakes.a }).pipe(
        holdWhileUnhealthy({ health: { check$, state$: NEVER }, relist$: NEVER, scheduler }),
        tap(() => history.push(`${scheduler.now()} wake`)),
        ignoreElements(),
      );
      expectObservable(wake$, '20s !').toBe('');
      flush();
      expectLanes(history, { everyMs: 100 }).toBe({
        check: 'cc-c---c-------c 1500ms c 3100ms c 4900ms c 4900ms c',
        wake: ' ---------------- 1500ms - 3100ms - 4900ms - 4900ms w',
      });
    }),
  );

  const wake = (uid: string, cancel: boolean): Wake => ({
    uid,
    update: { type: 'sync', pod: aPod({ uid }), causes: [] },
    cancel,
  });
  const wakes = { a: wake('a', false), A: wake('a', true), b: wake('b', false) };

  it(
    'are held, one per pod, until a relist or a status ends that; a cancelling one keeps its effect',
    marbles(({ cold, hot, expectObservable, scheduler }) => {
      const { health } = setup(scheduler, cold<StatusResponse>('(y|)', { y: reply(true) }));
      const relist$ = hot('  --------r', {}).pipe(tap(() => health.relisted(scheduler.now())));
      const wake$ = hot('    --A-a-b-----a', wakes);
      const expected = '     --------(Ab)a';
      const held$ = wake$.pipe(holdWhileUnhealthy({ health, relist$, scheduler }));
      const state$ = health.state$.pipe(ignoreElements());
      expectObservable(merge(state$, held$), '15ms !').toBe(expected, wakes);
    }),
  );
});
