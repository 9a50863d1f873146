import { catchError, concat, of, type Observable, tap } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { HttpFailure } from '../../../src/model/config/http-failure.js';
import { type HttpGetAnswer, type HttpGetRequest, urlOf } from '../../../src/model/config/http-get.js';
import type { Container, LifecycleHandler, PodSpec } from '../../../src/model/pod/pod.js';
import { HookFailed, runHook } from '../../../src/streams/pod-sync/run-hook.js';
import type { HttpRequest } from '../../../src/streams/ports/http-request.js';
import type { RuntimeService } from '../../../src/streams/ports/runtime-service.js';
import { aPod } from '../../support/a-pod.js';
import { syncStage } from '../../support/sync-context.js';
import { inTurn, marbles } from '../marbles.js';

const container: Container = { name: 'main', ports: [{ name: 'web', containerPort: 8080 }] };

interface Scene {
  readonly runtime?: Partial<RuntimeService>;
  readonly httpRequest?: HttpRequest;
  readonly podIps?: readonly string[];
  readonly spec?: Partial<PodSpec>;
}

/** Runs a hook of `main` and shows how it ended: `ok`, or its error. */
const stageOf = (
  scheduler: Parameters<typeof syncStage>[1],
  hook: LifecycleHandler,
  { podIps = ['10.0.0.1'], spec = {}, ...ports }: Scene = {},
) => {
  const stage = syncStage(aPod({ spec }), scheduler, ports);
  const run$ = concat(runHook(stage.context, { hook, containerId: 'id', container, podIps }), of('ok')).pipe(
    catchError((error: unknown) => of(error instanceof HookFailed ? error.message : error)),
  );
  return { ...stage, run$ };
};
const bytes = (text: string) => Buffer.from(text);

describe('a command', () => {
  it(
    'may take as long as it likes and is in the journal',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const asked: unknown[] = [];
      const answer$ = cold('60m (x|)', { x: { exitCode: 0, stdout: bytes('a'), stderr: bytes('b') } });
      const execSync: RuntimeService['execSync'] = (request) =>
        answer$.pipe(tap({ subscribe: () => asked.push(request) }));
      const { run$, records } = stageOf(
        scheduler,
        { exec: { command: ['touch', '$(FILE)'] } },
        { runtime: { execSync } },
      );
      expectObservable(run$).toBe('60m (o|)', { o: 'ok' });
      expectSubscriptions(answer$.subscriptions).toBe('^ 3599999ms !');
      scheduler.schedule(() => {
        expect(asked).toEqual([{ containerId: 'id', cmd: ['touch', '$(FILE)'], timeout: 0n }]);
        expect(records).toMatchObject([
          { kind: 'call-slow', call: 'ExecSync', container: 'main', waitedMs: 10_000 },
          { kind: 'call', call: 'ExecSync', target: 'id', container: 'main', durationMs: 3_600_000 },
        ]);
      }, 3_600_001);
    }),
  );

  it.each([
    {
      case: 'that ends badly',
      answer: (cold: (text: string, values: object) => Observable<never>) =>
        cold('-(x|)', { x: { exitCode: 3, stdout: bytes('out'), stderr: bytes('err') } }),
      message: `error: command 'sh -c x' exited with 3: err, message: "outerr"`,
    },
    {
      case: 'that cannot be run',
      answer: (cold: (text: string, values: object, error: unknown) => Observable<never>) =>
        cold('-#', {}, new CriError('unknown', 'ExecSync', 'no such file')),
      message: 'error: no such file',
    },
  ])('$case fails the hook with what it printed', ({ answer, message }) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = answer(cold as never);
      const { run$ } = stageOf(
        scheduler,
        { exec: { command: ['sh', '-c', 'x'] } },
        { runtime: { execSync: () => answer$ } },
      );
      expectObservable(run$).toBe('-(e|)', {
        e: `Exec lifecycle hook ([sh -c x]) for Container "main" in Pod "web_default(uid-1)" failed - ${message}`,
      });
    })();
  });
});

it(
  'sleeps as long as it says',
  marbles(({ expectObservable, scheduler }) => {
    expectObservable(stageOf(scheduler, { sleep: { seconds: 7 } }).run$).toBe('7s (o|)', { o: 'ok' });
    const stage = stageOf(scheduler, { sleep: { seconds: 0 } });
    expectObservable(stage.run$).toBe('(o|)', { o: 'ok' });
    scheduler.schedule(() => expect(stage.observed).toEqual([]), 9_000);
  }),
);

it(
  'counts a sleep that is cut short',
  marbles(({ expectObservable, scheduler }) => {
    const stage = stageOf(scheduler, { sleep: { seconds: 7 } });
    expectObservable(stage.run$, '6999ms !').toBe('7s -');
    scheduler.schedule(() => expect(stage.observed).toEqual(['sleepCutShort']), 8_000);
  }),
);

it(
  'does not know other kinds',
  marbles(({ expectObservable, scheduler }) => {
    expectObservable(stageOf(scheduler, { tcpSocket: { port: 80 } }).run$).toBe('(e|)', {
      e: 'Cannot run handler: invalid handler: {"tcpSocket":{"port":80}}',
    });
  }),
);

describe('a request over HTTP', () => {
  const plainHttp = new HttpFailure('request', 'http: server gave HTTP response to HTTPS client', {
    isPlainHttp: true,
  });
  const refused = new HttpFailure('request', 'connection refused');
  const answered = { a: { status: 500, body: '' } };
  const failedWith = (why: string, path = '/hook') =>
    `HTTP lifecycle hook (${path}) for Container "main" in Pod "web_default(uid-1)" failed - error: ${why}`;

  /** Requests that are sent, and what the hook makes of `answer$`. */
  const over = (
    scheduler: Parameters<typeof syncStage>[1],
    action: NonNullable<LifecycleHandler['httpGet']>,
    answer$: Observable<unknown>,
    scene: Scene = {},
  ) => {
    const sent: (readonly [HttpGetRequest, number])[] = [];
    const httpRequest: HttpRequest = (request, { maxBodyBytes, timeoutMs }) => {
      expect(timeoutMs).toBeUndefined();
      sent.push([request, maxBodyBytes]);
      return answer$ as Observable<HttpGetAnswer>;
    };
    return { ...stageOf(scheduler, { httpGet: action }, { httpRequest, ...scene }), sent };
  };

  it(
    'goes to the port by its name at the address of the pod; any status will do',
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = cold('--(a|)', answered);
      const httpHeaders = [{ name: 'X-One', value: '1' }];
      const { run$, sent, records } = over(scheduler, { port: 'web', path: '/hook?key=secret', httpHeaders }, answer$);
      expectObservable(run$).toBe('--(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        const [[request, maxBodyBytes] = []] = sent;
        expect(request && urlOf(request)).toBe('http://10.0.0.1:8080/hook?key=secret');
        expect(request?.headers).toEqual([
          ['Host', '10.0.0.1:8080'],
          ['User-Agent', 'kube-lifecycle/1.37'],
          ['Accept', '*/*'],
          ['X-One', '1'],
        ]);
        expect(maxBodyBytes).toBe(10_240);
        expect(records).toMatchObject([{ call: 'HttpGet', target: 'http://10.0.0.1:8080', container: 'main' }]);
      }, 5);
    }),
  );

  it.each<{ case: string; action: { host?: string }; scene: Scene; url: string }>([
    { case: 'the host that it names', action: { host: 'web.test' }, scene: { podIps: [] }, url: 'http://web.test:80/' },
    { case: 'the first address', action: {}, scene: { podIps: ['fd00::1', '10.0.0.1'] }, url: 'http://[fd00::1]:80/' },
    {
      case: 'the node, where the pod is in its network',
      action: { host: '' },
      scene: { podIps: [], spec: { hostNetwork: true } },
      url: 'http://192.0.2.1:80/',
    },
  ])('goes to $case', ({ action, scene, url }) => {
    const seen: string[] = [];
    marbles(({ cold, expectObservable, scheduler }) => {
      const { run$, sent } = over(scheduler, { port: 80, ...action }, cold('(a|)', answered), scene);
      expectObservable(run$).toBe('(o|)', { o: 'ok' });
      scheduler.schedule(() => seen.push(...sent.map(([request]) => urlOf(request))), 1);
    })();
    expect(seen).toEqual([url]);
  });

  it.each([
    {
      case: 'the server does not answer',
      action: {},
      answer: '--#',
      error: refused,
      end: '--(e|)',
      why: 'connection refused',
    },
    {
      case: 'the pod has no address',
      action: {},
      scene: { podIps: [] },
      answer: '#',
      end: '(e|)',
      why: 'failed to find networking container: the pod has no address',
    },
    {
      case: 'there is no such port',
      action: { port: 'other' },
      answer: '#',
      end: '(e|)',
      why: 'the container has no port named "other"',
    },
  ])('fails when $case', ({ action, answer, error, end, why, scene }) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = cold(answer, {}, error);
      const { run$ } = over(scheduler, { port: 80, path: '/hook', ...action }, answer$, scene);
      expectObservable(run$).toBe(end, { e: failedWith(why) });
    })();
  });

  it(
    'is over with the headers: a body that breaks off does not matter',
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = cold('-#', {}, new HttpFailure('body', 'unexpected EOF'));
      expectObservable(over(scheduler, { port: 80 }, answer$).run$).toBe('-(o|)', { o: 'ok' });
    }),
  );

  it(
    'is tried again without TLS and without what proves who asks, when the server does not speak TLS',
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = inTurn(cold('--#', {}, plainHttp), cold('---(a|)', answered));
      const httpHeaders = [{ name: 'Authorization', value: 'Basic x' }];
      const { run$, sent, events, observed } = over(scheduler, { port: 8443, scheme: 'HTTPS', httpHeaders }, answer$);
      expectObservable(run$).toBe('-----(o|)', { o: 'ok' });
      scheduler.schedule(() => {
        expect(sent.map(([request]) => urlOf(request))).toEqual(['https://10.0.0.1:8443/', 'http://10.0.0.1:8443/']);
        expect(sent.map(([{ headers }]) => headers.some(([name]) => name === 'Authorization'))).toEqual([true, false]);
        expect(events).toEqual([
          'LifecycleHTTPFallback request to HTTPS lifecycle hook 10.0.0.1:8443 got HTTP response, retry with HTTP succeeded',
        ]);
        expect(observed).toEqual(['hookFellBackToHttp']);
      }, 9);
    }),
  );

  it(
    'fails with the first error when that does not work either, and says nothing of it',
    marbles(({ cold, expectObservable, scheduler }) => {
      const answer$ = inTurn(cold('-#', {}, plainHttp), cold('-#', {}, refused));
      const { run$, events } = over(scheduler, { port: 1, path: '/hook', scheme: 'HTTPS' }, answer$);
      expectObservable(run$).toBe('--(e|)', { e: failedWith(plainHttp.message) });
      scheduler.schedule(() => expect(events).toEqual([]), 9);
    }),
  );
});

it(
  'is given up on with its subscriber, in any state',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const [exec$, get$] = [cold<never>('-'), cold<never>('-')];
    const ports = { runtime: { execSync: () => exec$ }, httpRequest: () => get$ };
    const unsubscribed = '---!';
    expectObservable(stageOf(scheduler, { exec: { command: ['x'] } }, ports).run$, unsubscribed).toBe('----');
    expectObservable(stageOf(scheduler, { httpGet: { port: 80 } }, ports).run$, unsubscribed).toBe('----');
    expectSubscriptions(exec$.subscriptions).toBe('^--!');
    expectSubscriptions(get$.subscriptions).toBe('^--!');
  }),
);
