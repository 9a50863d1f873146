import { catchError, map, merge, mergeMap, NEVER, type Observable, of, type SchedulerLike, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { Secret } from '../../../src/model/references/referenced-object.js';
import { ttlObjects } from '../../../src/streams/reflector/ttl-objects.js';
import { inTurn, marbles } from '../marbles.js';

const aSecret = (resourceVersion: string): Secret => ({ metadata: { namespace: 'ns', name: 's', resourceVersion } });
const secrets = { 1: aSecret('1'), 2: aSecret('2'), 3: aSecret('3') };
const notFound = new ApiError({ code: 404, reason: 'NotFound', message: 'secrets "s" not found' });
const away = new ApiError({ message: 'connect ECONNREFUSED' });
const outcomes: Readonly<Record<string, string>> = {
  [notFound.message]: 'n',
  [away.message]: 'a',
  'object "ns"/"s" not registered': 'r',
};

/** What reads give: the version or why there is none. `p` and `q` begin to refer to the secret, and end that as `P` and `Q`. */
const stageOf = (
  scheduler: SchedulerLike,
  act$: Observable<string>,
  answers: readonly Observable<Secret>[],
  { ttlMs = 10 }: { readonly ttlMs?: number | null } = {},
) => {
  const asked: string[] = [];
  const answer$ = inTurn(...answers);
  const store = ttlObjects<Secret>({
    get: (namespace, name, mayBeCached) => {
      asked.push(`${namespace}/${name}${mayBeCached ? ' from the cache' : ''}`);
      return answer$;
    },
    ttlMs: () => ttlMs ?? undefined,
    scheduler,
  });
  const read = (): Observable<string> =>
    store.read('ns', 's').pipe(
      map(({ metadata }) => metadata.resourceVersion!),
      catchError((error: unknown) => of(outcomes[(error as Error).message] ?? String(error))),
    );
  const outcome$ = merge(
    store.run$,
    act$.pipe(
      tap((act) => {
        if (act === 'p' || act === 'q') store.refer('ns', 's', act);
        if (act === 'P' || act === 'Q') store.release('ns', 's', act.toLowerCase());
      }),
      mergeMap((act) => (act === 'r' ? read() : NEVER)),
    ),
  );
  return { asked, outcome$ };
};

describe('an object that is asked for when it is read', () => {
  it(
    'is believed as long as the node object says, counted from the answer, and may then come from a cache of the server',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const answers = [cold('--(1|)', secrets), cold('-(2|)', secrets)];
      const act = hot('      rpr----------rr---r ');
      const expected = '     r---1--------1-2--2 ';
      const { asked, outcome$ } = stageOf(scheduler, act, answers);
      expectObservable(outcome$, '-------------------!').toBe(expected);
      scheduler.schedule(() => expect(asked).toEqual(['ns/s', 'ns/s from the cache']), 20);
    }),
  );

  it(
    'is believed for a minute where the node object says nothing',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const answers = [cold('(1|)', secrets), cold('(2|)', secrets)];
      const act = hot('      pr 59998ms rr  ');
      const expected = '     -1 59998ms 12  ';
      const { outcome$ } = stageOf(scheduler, act, answers, { ttlMs: null });
      expectObservable(outcome$, '2m !').toBe(expected);
    }),
  );

  it(
    'is requested once for all reads of that time, until no read waits for it',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const answer = cold('      -----(1|)     ', secrets);
      const { outcome$ } = stageOf(scheduler, hot('pr-r'), [answer]);
      expectObservable(outcome$, '----------!').toBe('------(11)');
      expectSubscriptions(answer.subscriptions).toBe('-^----!');
      const left = cold<Secret>('----------');
      const { outcome$: leftEarly$ } = stageOf(scheduler, hot('pr'), [left]);
      expectObservable(leftEarly$, '----!').toBe('');
      expectSubscriptions(left.subscriptions).toBe('-^--!');
    }),
  );

  it(
    'is requested again after a new reference, and not after a removed one',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const answers = [cold('(1|)', secrets), cold('(2|)', secrets)];
      const act = hot('  pr-qr-Pr-Qr ');
      const expected = ' -1--2--2--r ';
      const { asked, outcome$ } = stageOf(scheduler, act, answers);
      expectObservable(outcome$, '-----------!').toBe(expected);
      scheduler.schedule(() => expect(asked).toEqual(['ns/s', 'ns/s']), 20);
    }),
  );

  it(
    'an object with a new reference is requested again, also while an earlier request runs, whose answer is not kept',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const answers = [cold('------(1|)', secrets), cold('--(2|)', secrets)];
      const act = hot('  pr-qr---r ');
      const expected = ' ------212-';
      const { asked, outcome$ } = stageOf(scheduler, act, answers);
      expectObservable(outcome$, '---------!').toBe(expected);
      scheduler.schedule(() => expect(asked).toEqual(['ns/s', 'ns/s']), 20);
    }),
  );

  it(
    'that does not exist is asked for at every read',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const answers = [
        cold<Secret>('#', secrets, notFound),
        cold('(1|)', secrets),
        cold<Secret>('#', secrets, notFound),
      ];
      const act = hot('  prr---------r ');
      const expected = ' -n1---------n ';
      const { outcome$ } = stageOf(scheduler, act, answers);
      expectObservable(outcome$, '--------------!').toBe(expected);
    }),
  );

  it(
    'is given as it was read last while the server cannot be asked',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const fails = cold<Secret>('#', secrets, away);
      const answers = [fails, cold('(1|)', secrets), fails, cold('(2|)', secrets)];
      const act = hot('  prr---------rr ');
      const expected = ' -a1---------12 ';
      const { outcome$ } = stageOf(scheduler, act, answers);
      expectObservable(outcome$, '---------------!').toBe(expected);
    }),
  );

  it(
    'does not go back where a cache of the server lags behind',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const answers = [cold('(2|)', secrets), cold('(1|)', secrets), cold('(3|)', secrets)];
      const act = hot('  pr----------rr ');
      const expected = ' -2----------23 ';
      const { outcome$ } = stageOf(scheduler, act, answers);
      expectObservable(outcome$, '---------------!').toBe(expected);
    }),
  );
});
