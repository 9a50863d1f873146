import {
  catchError,
  defer,
  map,
  merge,
  mergeMap,
  NEVER,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { tokenManager } from '../../../src/streams/references/token-manager.js';
import { aPod } from '../../support/a-pod.js';
import { inTurn, marbles } from '../marbles.js';

const MINUTE = 60_000;
const refused = new ApiError({ code: 403, reason: 'Forbidden', message: 'no relationship found' });
const away = new ApiError({ message: 'connect ECONNREFUSED' });
const pod = aPod({ uid: 'u' });
const purpose = { pod, namespace: 'default', serviceAccount: 'sa', audiences: [], expirationSeconds: 600 };

/** A server that gives each of `names` as a token for ten minutes from when it is asked; `!` stands for one that is away, `x` for a refusal. */
const stageOf = (
  scheduler: SchedulerLike,
  names: string,
  {
    random = () => 0,
    answerAfter = of(0),
    wallClock = () => scheduler.now(),
  }: {
    readonly random?: () => number;
    readonly answerAfter?: Observable<unknown>;
    readonly wallClock?: () => number;
  } = {},
) => {
  const asked: string[] = [];
  const logged: string[] = [];
  const answer$ = inTurn(
    ...[...names].map((token) =>
      defer(() => {
        if (token === '!') return throwError(() => away);
        if (token === 'x') return throwError(() => refused);
        const expirationTimestamp = new Date(scheduler.now() + 10 * MINUTE).toISOString();
        return answerAfter.pipe(
          map(() => ({ spec: { expirationSeconds: 600 }, status: { token, expirationTimestamp } })),
        );
      }),
    ),
  );
  const say = (_: object, message: string) => logged.push(message);
  const manager = tokenManager({
    api: {
      create: <T>(path: string) => {
        asked.push(path);
        return answer$ as Observable<T>;
      },
    },
    log: { debug: say, info: say, warn: say, error: say },
    ...{ scheduler, wallClock, random },
  });
  const ask = (): Observable<string> =>
    manager.podToken(purpose).pipe(
      map(({ token }) => token),
      catchError((error: unknown) => of((error as Error).message)),
    );
  /** The answers to callers; `f` forgets the pod instead. */
  const given = (act$: Observable<string>): Observable<string> =>
    merge(
      manager.run$,
      act$.pipe(
        mergeMap((act) => {
          if (act === 'a') return ask();
          manager.forget('u');
          return NEVER;
        }),
      ),
    );
  return { asked, logged, manager, given };
};

describe('the token of a pod', () => {
  it(
    'a first refusal is tried again for some seconds, since the authorizer may lag behind the binding of the pod',
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const act = hot('     a ');
      const expected = '    525ms 1 ';
      const { asked, given } = stageOf(scheduler, 'xxx1');
      expectObservable(given(act), '5s !').toBe(expected);
      flush();
      expect(asked).toHaveLength(4);
    }),
  );

  it(
    'a refusal that lasts is a failure after 2.125 s, and then at once',
    marbles(({ hot, scheduler, expectObservable, flush }) => {
      const act = hot('     a 2999ms a ');
      const expected = '    2125ms n 874ms n ';
      const { asked, given } = stageOf(scheduler, 'xxxxxx');
      expectObservable(given(act), '5s !').toBe(expected, { n: 'failed to fetch token: no relationship found' });
      flush();
      expect(asked).toHaveLength(6);
    }),
  );

  it(
    'is asked for once, and again when four fifths of its life are over',
    marbles(({ hot, scheduler, expectObservable }) => {
      const act = hot('     a 479999ms a a ');
      const expected = '    1 479999ms 1 2 ';
      const { asked, given } = stageOf(scheduler, '12');
      expectObservable(given(act), '9m !').toBe(expected);
      scheduler.schedule(() => {
        const path = '/api/v1/namespaces/default/serviceaccounts/sa/token';
        expect(asked).toEqual([path, path]);
      }, 9 * MINUTE);
    }),
  );

  it(
    'is asked for up to ten seconds earlier, by chance',
    marbles(({ hot, scheduler, expectObservable }) => {
      const act = hot('     a 470999ms a a ');
      const expected = '    1 470999ms 1 2 ';
      expectObservable(stageOf(scheduler, '12', { random: () => 0.99 }).given(act), '9m !').toBe(expected);
    }),
  );

  it(
    'does for as long as it is valid while there is no newer one, and then there is none',
    marbles(({ hot, scheduler, expectObservable }) => {
      const act = hot('     a 8m a 119998ms a a a ');
      const expected = '    1 8m 1 119998ms 1 x 2 ';
      const { given, logged } = stageOf(scheduler, '1!!!2');
      const key = '["sa","default",[],600,"web","u"]';
      expectObservable(given(act), '11m !').toBe(expected, {
        ...{ 1: '1', 2: '2' },
        x: `token ${key} expired and refresh failed: connect ECONNREFUSED`,
      });
      scheduler.schedule(() => expect(logged).toHaveLength(2), 11 * MINUTE);
    }),
  );

  it(
    'is renewed in time on a node whose clock is years behind that of the server, and expires there',
    marbles(({ hot, scheduler, expectObservable }) => {
      const act = hot('     a 480s a 119998ms a a ');
      const expected = '    1 480s 1 119998ms 1 x ';
      const { given } = stageOf(scheduler, '1!!!', { wallClock: () => scheduler.now() - 1e12 });
      expectObservable(given(act), '11m !').toBe(expected, {
        1: '1',
        x: 'token ["sa","default",[],600,"web","u"] expired and refresh failed: connect ECONNREFUSED',
      });
    }),
  );

  it(
    'that the server does not give is an error, and the next caller sends a request',
    marbles(({ hot, scheduler, expectObservable }) => {
      const expected = { x: 'failed to fetch token: connect ECONNREFUSED', 1: '1' };
      expectObservable(stageOf(scheduler, '!1').given(hot('aa')), '---!').toBe('x1', expected);
    }),
  );

  it(
    'is one answer for all callers of that time, and is cancelled without callers',
    marbles(({ hot, cold, scheduler, expectObservable, expectSubscriptions }) => {
      const slow = cold('-----(a|)');
      const { asked, given } = stageOf(scheduler, '1', { answerAfter: slow });
      expectObservable(given(hot('a-a------a')), '----------!').toBe('-----(11)1');
      scheduler.schedule(() => expect(asked).toHaveLength(1), 10);
      const endless = cold('--');
      expectObservable(stageOf(scheduler, '1', { answerAfter: endless }).given(hot('a')), '---!').toBe('');
      expectSubscriptions(endless.subscriptions).toBe('^--!');
    }),
  );

  it(
    'is forgotten with the pod, also one that is on its way',
    marbles(({ hot, cold, scheduler, expectObservable }) => {
      const { given } = stageOf(scheduler, '123', { answerAfter: cold('---(a|)') });
      const act = hot('     a---f-a--f-----a--- ');
      const expected = '    ---1-----2--------3 ';
      expectObservable(given(act), '--------------------!').toBe(expected);
    }),
  );

  it(
    'is dropped within a minute after its end',
    marbles(({ hot, scheduler, expectObservable }) => {
      const act = hot('     a 10m - a 59996ms a-a');
      const expected = '    1 10m - x 59996ms x-y';
      expectObservable(stageOf(scheduler, '1!!!').given(act), '12m !').toBe(expected, {
        1: '1',
        x: 'token ["sa","default",[],600,"web","u"] expired and refresh failed: connect ECONNREFUSED',
        y: 'failed to fetch token: connect ECONNREFUSED',
      });
    }),
  );
});
