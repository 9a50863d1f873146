import { catchError, map, type Observable, of, type SchedulerLike } from 'rxjs';
import { describe, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { AccessQuestion } from '../../../src/model/server/access-review.js';
import { reviewAccess } from '../../../src/streams/server/review-access.js';
import { reviewTokens } from '../../../src/streams/server/review-tokens.js';
import { inTurn, marbles } from '../marbles.js';

const question: AccessQuestion = {
  user: { name: 'u', uid: '', groups: [], extra: {} },
  verb: 'get',
  subresource: 'metrics',
  nodeName: 'n',
};
const replies = {
  u: { status: { authenticated: true, user: { username: 'u' } } },
  n: { status: { authenticated: false } },
  e: { status: { error: 'cannot check' } },
  y: { status: { allowed: true } },
  d: { status: { allowed: false } },
};
const internal = new ApiError({ code: 500, reason: 'InternalError', message: 'm' });
const random = (): number => 0;

const names = map((verdict: { readonly user?: unknown }) => (verdict.user ? 'u' : 'n'));
const answers = map((isAllowed: boolean) => (isAllowed ? 'y' : 'd'));

describe('the review of a token', () => {
  it(
    'is kept for two minutes, for good and for bad',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [known, unknown, again] = [cold('-(u|)', replies), cold('-(n|)', replies), cold('-(u|)', replies)];
      const answer$ = inTurn(known, unknown, again);
      const api = { request: () => answer$ };
      const review = reviewTokens({ api, cacheTtlMs: 120_000, digest: String, scheduler, random });
      const verdict$ = review('t').pipe(names);
      expectObservable(verdict$, '^         ').toBe('-(u|)');
      expectObservable(verdict$, '120s ^    ').toBe('120s (u|)');
      expectObservable(verdict$, '120001ms ^').toBe('120002ms (n|)');
      expectObservable(verdict$, '240001ms ^').toBe('240001ms (n|)');
      expectObservable(verdict$, '240002ms ^').toBe('240003ms (u|)');
      expectSubscriptions(known.subscriptions).toBe('^!');
      expectSubscriptions(unknown.subscriptions).toBe('120001ms ^!');
      expectSubscriptions(again.subscriptions).toBe('240002ms ^!');
    }),
  );

  it(
    'is shared by requests with the same token, and not by others',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [one, other] = [cold('---(u|)', replies), cold('-(n|)', replies)];
      const answer$ = inTurn(one, other);
      const review = reviewTokens({
        api: { request: () => answer$ },
        cacheTtlMs: 120_000,
        digest: (token) => `digest of ${token}`,
        scheduler,
        random,
      });
      expectObservable(review('t').pipe(names), '^').toBe(' ---(u|)');
      expectObservable(review('t').pipe(names), '-^').toBe('---(u|)');
      expectObservable(review('x').pipe(names), '-^').toBe('--(n|)');
      expectSubscriptions(one.subscriptions).toBe('  ^--!');
      expectSubscriptions(other.subscriptions).toBe('-^!');
    }),
  );

  it(
    'that the server could not make is not kept',
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = inTurn(cold('-(e|)', replies), cold('-(u|)', replies));
      const review = reviewTokens({
        api: { request: () => answer$ },
        cacheTtlMs: 120_000,
        digest: String,
        scheduler,
        random,
      });
      expectObservable(review('t').pipe(names), '^').toBe('  -#', undefined, new Error('cannot check'));
      expectObservable(review('t').pipe(names), '--^').toBe('---(u|)');
    }),
  );
});

describe('the review of access', () => {
  it(
    'is kept for five minutes if it allows, for 30 s if it denies',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const [allowed, denied, again] = [cold('-(y|)', replies), cold('-(d|)', replies), cold('-(y|)', replies)];
      const answer$ = inTurn(allowed, denied, again);
      const api = { request: () => answer$ };
      const review = reviewAccess({ api, allowedTtlMs: 300_000, deniedTtlMs: 30_000, scheduler, random });
      const verdict$ = review(question).pipe(answers);
      expectObservable(verdict$, '^         ').toBe('-(y|)');
      expectObservable(verdict$, '300s ^    ').toBe('300s (y|)');
      expectObservable(verdict$, '300001ms ^').toBe('300002ms (d|)');
      expectObservable(verdict$, '330001ms ^').toBe('330001ms (d|)');
      expectObservable(verdict$, '330002ms ^').toBe('330003ms (y|)');
      expectSubscriptions(allowed.subscriptions).toBe('^!');
      expectSubscriptions(denied.subscriptions).toBe('300001ms ^!');
      expectSubscriptions(again.subscriptions).toBe('330002ms ^!');
    }),
  );

  it(
    'is shared by equal questions, unless they are too long to keep',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const answer$ = cold('--(y|)', replies);
      const review = reviewAccess({
        api: { request: () => answer$ },
        allowedTtlMs: 300_000,
        deniedTtlMs: 30_000,
        scheduler,
        random,
      });
      const long = { ...question, user: { ...question.user, name: 'u'.repeat(10_000) } };
      expectObservable(review(question).pipe(answers), '^').toBe('     --(y|)');
      expectObservable(review({ ...question }).pipe(answers), '-^').toBe('--(y|)');
      expectObservable(review(long).pipe(answers), '----^').toBe('     ------(y|)');
      expectObservable(review(long).pipe(answers), '----^').toBe('     ------(y|)');
      expectSubscriptions(answer$.subscriptions).toBe(['^-!', '----^-!', '----^-!']);
    }),
  );
});

describe('a review that fails', () => {
  const after = <T>(reply$: Observable<T>, scheduler: SchedulerLike) =>
    reviewAccess({ api: { request: () => reply$ }, allowedTtlMs: 1, deniedTtlMs: 1, scheduler, random })(question).pipe(
      answers,
    );

  it(
    'is repeated after 500, 750, 1125 and 1688 ms, and then fails',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const broken$ = cold('#', undefined, internal);
      expectObservable(after(broken$, scheduler)).toBe('4063ms #', undefined, internal);
      expectSubscriptions(broken$.subscriptions).toBe([
        '(^!)',
        '500ms (^!)',
        '1250ms (^!)',
        '2375ms (^!)',
        '4063ms (^!)',
      ]);
    }),
  );

  it(
    'is not repeated for a reason that stays',
    marbles(({ cold, expectObservable, scheduler }) => {
      const refused = new ApiError({ code: 403, reason: 'Forbidden', message: 'm' });
      expectObservable(after(cold('-#', undefined, refused), scheduler)).toBe('-#', undefined, refused);
    }),
  );

  it(
    'is cancelled after 30 s without an answer',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const silent$ = cold('-');
      expectObservable(after(silent$, scheduler).pipe(catchError((error: unknown) => of((error as Error).name)))).toBe(
        '30s (t|)',
        {
          t: 'TimeoutError',
        },
      );
      expectSubscriptions(silent$.subscriptions).toBe('^ 29999ms !');
    }),
  );
});
