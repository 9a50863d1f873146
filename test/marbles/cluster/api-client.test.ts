import { defer, map, mergeMap, type Observable, of, tap, throwError } from 'rxjs';
import type { RunHelpers } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { type ApiClientOptions, apiClient } from '../../../src/streams/cluster/api-client.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { metricLines } from '../../support/metric-lines.js';
import { expectLanes } from '../lanes.js';
import { inTurn, marbles } from '../marbles.js';
import { internal, line, opened, refused, reset, tooMany, unauthorized } from '../reflector/scripted-api.js';

type Stage = Parameters<Parameters<typeof marbles>[0]>[0];

const GET = { method: 'GET', path: '/api/v1/things/n' } as const;
const PATCH = { method: 'PATCH', path: '/api/v1/things/n' } as const;
const busy = new ApiError({ code: 503, reason: 'ServiceUnavailable', message: 'busy', retryAfterSeconds: 2 });

/** A client with as many requests as it likes, of a server that answers in turn. */
const clientOf = ({ scheduler }: Stage, server: Partial<ApiServer>, options: Partial<ApiClientOptions> = {}) =>
  apiClient(
    {
      request: () => throwError(() => new Error('not asked for')),
      watch: () => throwError(() => new Error('no')),
      ...server,
    },
    { qps: -1, burst: 0, scheduler, ...options },
  );

const answers = (...replies: Observable<unknown>[]): Pick<ApiServer, 'request'> => {
  const reply$ = inTurn(...replies);
  return { request: () => reply$ };
};

describe('requests of one client', () => {
  const asked = (count: number): string => '(' + 'abcdefghijklmnopqrstuvwxyz'.slice(0, count) + ')';
  const begun = (stage: Stage, options: Partial<ApiClientOptions>, names: string): Observable<string> => {
    const client = clientOf(stage, { request: ({ path }) => of(path) }, options);
    return stage.hot(names).pipe(mergeMap((name) => client.request({ method: 'GET', path: name }).pipe(map(String))));
  };

  it(
    'begin as a burst, and then `qps` each second, in order of arrival',
    marbles((stage) => {
      const expected = '(abc) 495ms d 499ms e';
      stage.expectObservable(begun(stage, { qps: 2, burst: 3 }, asked(5))).toBe(expected);
    }),
  );

  it(
    'are ten and then five each second where nothing is said',
    marbles((stage) => {
      const expected = '(abcdefghij) 188ms k 199ms l';
      stage.expectObservable(begun(stage, { qps: 0, burst: 0 }, asked(12))).toBe(expected);
    }),
  );

  it(
    'are without a limit below zero',
    marbles((stage) => {
      stage.expectObservable(begun(stage, { qps: -1, burst: 1 }, asked(26))).toBe(asked(26));
    }),
  );

  it(
    'do not hold up watches, and are not held up by them',
    marbles((stage) => {
      const { cold, expectObservable } = stage;
      const client = clientOf(
        stage,
        { request: () => of('r'), watch: () => cold<ApiWatchMessage>('o', { o: opened }) },
        { qps: 1, burst: 1 },
      );
      const watch$ = client.watch({ path: '/w' }).pipe(map(() => 'w'));
      expectObservable(watch$, '^!').toBe('w');
      expectObservable(watch$, '^!').toBe('w');
      expectObservable(client.request(GET)).toBe('(r|)');
      expectObservable(client.request(GET)).toBe('1s (r|)');
      expectObservable(watch$, '^!').toBe('w');
    }),
  );

  it(
    'say in the log that they waited for more than a second, once in ten seconds; and each wait is measured',
    marbles((stage) => {
      const logged: object[] = [];
      const history: string[] = [];
      const info = (fields: object) => {
        logged.push(fields);
        history.push(`${stage.scheduler.now()} log`);
      };
      const log = { debug: fail, warn: fail, error: fail, info };
      const { metrics, lines } = metricLines();
      const client = clientOf(stage, answers(...Array.from({ length: 8 }, () => of('reply'))), {
        qps: 0.5,
        burst: 1,
        log,
        metrics,
        host: 'h',
      });
      for (const path of ['/a', '/b', '/c', '/d', '/e', '/f', '/g', '/h']) {
        stage
          .expectObservable(client.request({ method: 'GET', path }).pipe(map(() => 'x')))
          .toBe(path === '/a' ? '(x|)' : `${2 * (path.charCodeAt(1) - 97)}s (x|)`);
      }
      stage.flush();
      // One request begins every 2 s.
      expectLanes(history, { everyMs: 1_000 }).toBe({ log: '--l---------l' });
      expect(logged[0]).toEqual({
        waitedMs: 2_000,
        method: 'GET',
        path: '/b',
        reason: 'too many requests of this agent',
      });
      expect(lines.filter((text) => text.startsWith('apiThrottled'))).toEqual(
        [0, 2, 4, 6, 8, 10, 12, 14].map((seconds) => `apiThrottled GET h ${seconds}`),
      );
      expect(lines.filter((text) => text.startsWith('apiRequest'))).toEqual(
        [0, 2, 4, 6, 8, 10, 12, 14].map((seconds) => `apiRequest GET h ${seconds}`),
      );
    }),
  );
});

const fail = (): never => {
  throw new Error('not to be logged');
};

describe('a request', () => {
  const outcome = (
    stage: Stage,
    request: ApiRequest,
    server: Partial<ApiServer>,
    options?: Partial<ApiClientOptions>,
  ) => clientOf(stage, server, options).request(request);

  it(
    'fails when there is no whole reply after 60 s, and is given up then',
    marbles((stage) => {
      const reply = stage.cold('-----');
      const error = new ApiError({ message: 'PATCH /api/v1/things/n: no answer within 60 s' });
      stage.expectObservable(outcome(stage, PATCH, answers(reply))).toBe('60s #', undefined, error);
      stage.expectSubscriptions(reply.subscriptions).toBe('^ 59999ms !');
    }),
  );

  it(
    'has a time of its own to wait for its turn, and then the time that it is given',
    marbles((stage) => {
      const client = clientOf(stage, answers(of('a'), stage.cold('9999ms (b|)'), stage.cold('10001ms (c|)')), {
        ...{ qps: 0.01, burst: 1, timeoutMs: 10_000 },
      });
      const error = new ApiError({ message: 'GET /api/v1/things/n: no answer within 10 s' });
      stage.expectObservable(client.request(GET)).toBe('(a|)');
      stage.expectObservable(client.request(GET)).toBe('109999ms (b|)');
      stage.expectObservable(client.request(GET)).toBe('210s #', undefined, error);
    }),
  );

  it.each([
    { what: '429', error: tooMany(2) },
    { what: '503', error: busy },
    { what: '500', error: new ApiError({ code: 500, message: 'x', retryAfterSeconds: 2 }) },
  ])('that changes something is sent again after $what when the server says, too', ({ error }) => {
    marbles((stage) => {
      const replies = [stage.cold('-#', undefined, error), stage.cold('-#', undefined, error), stage.cold('-(r|)')];
      stage.expectObservable(outcome(stage, PATCH, answers(...replies))).toBe('- 2s - 2s -(r|)');
    })();
  });

  it.each([
    { what: 'is refused', error: unauthorized },
    { what: 'fails without Retry-After', error: internal },
    { what: 'is one too many without Retry-After', error: tooMany() },
    {
      what: 'is in conflict, even with a Retry-After',
      error: new ApiError({ code: 409, message: 'c', retryAfterSeconds: 1 }),
    },
    { what: 'is refused by the host', error: refused },
  ])('that $what is not sent again', ({ error }) => {
    marbles((stage) => {
      const reply = stage.cold('-#', undefined, error);
      stage.expectObservable(outcome(stage, GET, { request: () => reply })).toBe('-#', undefined, error);
      stage.expectSubscriptions(reply.subscriptions).toBe('^!');
    })();
  });

  it(
    'that only reads is sent again a second after its connection broke; one that changes something is not',
    marbles((stage) => {
      const lost = stage.cold('-#', undefined, reset);
      stage.expectObservable(outcome(stage, GET, answers(lost, stage.cold('-(r|)')))).toBe('- 1s -(r|)');
      stage.expectObservable(outcome(stage, PATCH, answers(lost, stage.cold('-(r|)')))).toBe('-#', undefined, reset);
    }),
  );

  it(
    'is sent again ten times and no more',
    marbles((stage) => {
      const reply = stage.cold('#', undefined, tooMany(1));
      stage.expectObservable(outcome(stage, GET, { request: () => reply })).toBe('10s #', undefined, tooMany(1));
      stage.expectSubscriptions(reply.subscriptions).toBe(Array.from({ length: 11 }, (_, index) => `${index}s (^!)`));
    }),
  );

  it(
    'does not get more time by a retry, and its error names the attempt before',
    marbles((stage) => {
      const server = { request: () => stage.cold('#', undefined, tooMany(7)) };
      const message = 'GET /api/v1/things/n: no answer within 10 s, after an attempt that failed: too many';
      const error = new ApiError({ message });
      stage.expectObservable(outcome(stage, GET, server, { timeoutMs: 10_000 })).toBe('10s #', undefined, error);
    }),
  );

  it(
    'waits for its turn to be sent again',
    marbles((stage) => {
      const client = clientOf(
        stage,
        answers(
          throwError(() => tooMany(1)),
          of('r'),
        ),
        { qps: 0.25, burst: 1 },
      );
      stage.expectObservable(client.request(GET)).toBe('4s (r|)');
    }),
  );

  it(
    'is aborted on unsubscribe, while it waits as well',
    marbles((stage) => {
      const reply = stage.cold('--#', undefined, busy);
      const server = { request: () => reply };
      stage.expectObservable(outcome(stage, GET, server), '^!').toBe('-');
      stage.expectObservable(outcome(stage, GET, server), '^ 500ms !').toBe('-');
      stage.expectSubscriptions(reply.subscriptions).toBe(['^!', '^-!']);
    }),
  );
});

describe('a watch', () => {
  const event = line('ADDED', { metadata: { name: 'a' } });
  const values = { o: opened, e: event };

  it(
    'has no time-out, and emits its messages',
    marbles((stage) => {
      const watch$ = clientOf(stage, { watch: () => stage.cold('-o 3600s e|', values) }).watch({ path: '/w' });
      stage.expectObservable(watch$).toBe('-o 3600s e|', values);
    }),
  );

  it(
    'that is not opened is asked for again when the server says, or a second after its connection broke',
    marbles((stage) => {
      const attempt$ = inTurn<ApiWatchMessage>(
        stage.cold('-#', undefined, busy),
        stage.cold('-#', undefined, reset),
        stage.cold('-o', values),
      );
      const watch$ = clientOf(stage, { watch: () => attempt$ }).watch({ path: '/w' });
      stage.expectObservable(watch$, '5s !').toBe('- 2s - 1s -o', values);
    }),
  );

  it(
    'that was opened is not asked for again, for its reader knows more by then',
    marbles((stage) => {
      const attempt = stage.cold('-oe#', values, reset);
      const watch$ = clientOf(stage, { watch: () => attempt }).watch({ path: '/w' });
      stage.expectObservable(watch$).toBe('-oe#', values, reset);
      stage.expectSubscriptions(attempt.subscriptions).toBe('^--!');
    }),
  );
});

describe('what is said for short', () => {
  const sentBy = (use: (client: ReturnType<typeof apiClient>) => Observable<unknown>): ApiRequest => {
    let sent: ApiRequest | undefined;
    marbles((stage) => {
      const client = clientOf(stage, { request: (request) => defer(() => of((sent = request))) });
      stage.expectObservable(use(client).pipe(map(() => 'x'))).toBe('(x|)');
    })();
    return sent!;
  };

  it.each([
    ['get', (c) => c.get('/p'), { method: 'GET', path: '/p' }],
    ['get', (c) => c.get('/p', { a: '1' }), { method: 'GET', path: '/p', query: { a: '1' } }],
    ['list', (c) => c.list('/p', { limit: '5' }), { method: 'GET', path: '/p', query: { limit: '5' } }],
    ['create', (c) => c.create('/p', { b: 1 }), { method: 'POST', path: '/p', body: { b: 1 } }],
    ['update', (c) => c.update('/p', { b: 1 }), { method: 'PUT', path: '/p', body: { b: 1 } }],
    [
      'patch',
      (c) => c.patch('/p', { b: 1 }),
      { method: 'PATCH', path: '/p', body: { b: 1 }, contentType: 'application/strategic-merge-patch+json' },
    ],
    [
      'patch',
      (c) => c.patch('/p', [], 'application/json-patch+json'),
      { method: 'PATCH', path: '/p', body: [], contentType: 'application/json-patch+json' },
    ],
    ['delete', (c) => c.delete('/p'), { method: 'DELETE', path: '/p' }],
    ['delete', (c) => c.delete('/p', { g: 0 }), { method: 'DELETE', path: '/p', body: { g: 0 } }],
  ] satisfies [string, Parameters<typeof sentBy>[0], ApiRequest][])('%s', (_name, use, expected) => {
    expect(sentBy(use)).toEqual(expected);
  });
});

describe('every page of a list', () => {
  const page = (names: string, next?: string) => ({
    metadata: { resourceVersion: '7', ...(next && { continue: next }) },
    items: [...names].map((name) => ({ metadata: { name } })),
  });
  const gone = new ApiError({ code: 410, reason: 'Expired', message: 'continue is too old' });

  const told = (replies: readonly unknown[], query: Readonly<Record<string, string>>) => {
    const asked: string[] = [];
    let result: unknown;
    marbles((stage: RunHelpers & Stage) => {
      const left = [...replies];
      const client = clientOf(stage, {
        request: (request) =>
          defer(() => {
            asked.push(new URLSearchParams(request.query).toString());
            const reply = left.shift();
            return reply instanceof ApiError ? throwError(() => reply) : of(reply);
          }),
      });
      const list$ = client
        .everyPage('/p', query)
        .pipe(tap({ next: (list) => (result = list), error: (error: unknown) => (result = error) }));
      stage
        .expectObservable(list$.pipe(map(() => 'l')))
        .toBe(replies.some((reply) => reply === gone) && replies[0] === gone ? '#' : '(l|)', undefined, gone);
    })();
    return { asked, result };
  };

  it('is one list', () => {
    expect(
      told([page('ab', 't1'), page('c', 't2'), page('d')], { resourceVersion: '0', fieldSelector: 'x=y' }),
    ).toEqual({
      asked: [
        'resourceVersion=0&fieldSelector=x%3Dy&limit=500',
        'fieldSelector=x%3Dy&limit=500&continue=t1',
        'fieldSelector=x%3Dy&limit=500&continue=t2',
      ],
      result: page('abcd'),
    });
  });

  it('is read at once when the pages that are left have gone', () => {
    expect(told([page('ab', 't1'), gone, page('abcd')], { resourceVersion: '5' })).toEqual({
      asked: ['resourceVersion=5&limit=500', 'limit=500&continue=t1', 'resourceVersion=5'],
      result: page('abcd'),
    });
  });

  it('fails where the first one does', () => {
    expect(told([gone], {})).toEqual({ asked: ['limit=500'], result: gone });
  });

  it('may be none', () => {
    const empty = { metadata: { resourceVersion: '7' }, items: null };
    expect(told([empty], {}).result).toEqual(empty);
  });
});

describe('a patch that is made late', () => {
  it(
    'says what is so when its turn has come, again for another attempt, and is not sent when there is nothing to say',
    marbles((stage) => {
      const facts = ['b', 'c', undefined];
      const sent: unknown[] = [];
      const reply$ = inTurn<unknown>(
        throwError(() => busy),
        stage.cold('(p|)'),
      );
      const request = (asked: ApiRequest) => {
        sent.push(asked);
        return reply$;
      };
      const client = clientOf(stage, { request }, { qps: 1, burst: 1 });
      const late = () => client.patchLate('/p', () => facts.shift());
      // The first is asked for again after two seconds; the turn of the second comes after that, a second later.
      stage.expectObservable(late()).toBe('2s (p|)');
      stage.flush();
      stage.expectObservable(late()).toBe('3s |');
      stage.flush();
      const asked = { method: 'PATCH', path: '/p', contentType: 'application/strategic-merge-patch+json' };
      expect(sent).toEqual([
        { ...asked, body: 'b' },
        { ...asked, body: 'c' },
      ]);
    }),
  );
});
