import { catchError, of, type SchedulerLike, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { HttpFailure } from '../../../src/model/config/http-failure.js';
import type { Probe } from '../../../src/model/pod/pod.js';
import { HealthFailure } from '../../../src/model/probes/health-failure.js';
import { ProbeErrored } from '../../../src/model/probes/probe-errored.js';
import { probeHandlers, type ProbePorts } from '../../../src/streams/probes/probe-handlers.js';
import type { HealthCheckProgress } from '../../../src/streams/ports/check-health.js';
import type { ProbeTarget } from '../../../src/streams/ports/probe-handlers.js';
import { aPod } from '../../support/a-pod.js';
import { marbles } from '../marbles.js';

const unasked = () => throwError(() => new Error('not asked for'));

/** One probe of `main` in a pod at 10.0.0.1, with one second for it. An error is shown as its text and its state. */
const probing = (
  probe: Probe,
  ports: Partial<ProbePorts> & { readonly scheduler: SchedulerLike },
  target: Partial<ProbeTarget> = {},
) =>
  probeHandlers({
    runtime: { execSync: unasked },
    ...{ httpRequest: unasked, tcpConnect: unasked, checkHealth: unasked },
    ...ports,
  })
    .probe({
      type: 'liveness',
      kind: 'exec',
      probe,
      pod: aPod({ uid: 'u' }),
      container: { name: 'main', ports: [{ name: 'web', containerPort: 8080 }], env: [{ name: 'A', value: 'b' }] },
      containerId: 'id',
      podIp: '10.0.0.1',
      timeoutSeconds: 1,
      ...target,
    })
    .pipe(
      catchError((error: unknown) =>
        of(error instanceof ProbeErrored ? `${error.state}: ${error.message}` : (error as Error).message),
      ),
    );

describe('exec', () => {
  it(
    'asks the runtime, which minds the time',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const asked: unknown[] = [];
      const answer$ = cold('90s (x|)', { x: { exitCode: 0, stdout: Buffer.from('out'), stderr: Buffer.from('err') } });
      const execSync: ProbePorts['runtime']['execSync'] = (request) => {
        asked.push(request);
        return answer$;
      };
      const outcome$ = probing({ exec: { command: ['echo', '$(A)'] } }, { runtime: { execSync }, scheduler });
      expectObservable(outcome$).toBe('90s (x|)', { x: { result: 'success', output: 'outerr' } });
      expectSubscriptions(answer$.subscriptions).toBe('^ 89999ms !');
      scheduler.schedule(() => expect(asked).toEqual([{ containerId: 'id', cmd: ['echo', 'b'], timeout: 1n }]), 90_001);
    }),
  );

  it(
    'is not sent with a command that no process starts with, which is an error',
    marbles(({ expectObservable, scheduler }) => {
      const container = { name: 'main', env: [{ name: 'A', value: 'x'.repeat(2 ** 20) }] };
      const command = Array.from({ length: 7 }, () => '$(A)');
      expectObservable(probing({ exec: { command } }, { scheduler }, { container })).toBe('(x|)', {
        x: 'unknown: the variables or the command are longer than 6 MiB, with which no process starts',
      });
    }),
  );

  it.each([
    [
      'a command that took too long is a failure',
      new CriError('deadline-exceeded', 'ExecSync', 'timeout'),
      { result: 'failure', output: 'command timed out: "true" timed out after 1s' },
    ],
    [
      'any other trouble of the runtime is an error',
      new CriError('not-found', 'ExecSync', 'no such container'),
      'unknown: no such container',
    ],
  ])('%s', (_, error, expected) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const execSync = () => cold<never>('--#', {}, error);
      const outcome$ = probing({ exec: { command: ['true'] } }, { runtime: { execSync }, scheduler });
      expectObservable(outcome$).toBe('--(x|)', { x: expected });
    })();
  });
});

describe('httpGet', () => {
  it(
    'asks for a page within the time, and for no more than 10 KiB of it',
    marbles(({ cold, expectObservable, scheduler }) => {
      const asked: unknown[] = [];
      const httpRequest: ProbePorts['httpRequest'] = (...request) => {
        asked.push(request);
        return cold('-(x|)', { x: { status: 200, body: 'ok' } });
      };
      const outcome$ = probing({ httpGet: { port: 'web', path: '/up' } }, { httpRequest, scheduler });
      expectObservable(outcome$).toBe('-(x|)', { x: { result: 'success', output: 'ok' } });
      scheduler.schedule(() => {
        const headers = [
          ['Host', '10.0.0.1:8080'],
          ['User-Agent', 'kube-probe/1.37'],
          ['Accept', '*/*'],
        ];
        expect(asked).toEqual([
          [
            { scheme: 'http', host: '10.0.0.1', port: 8080, target: '/up', headers },
            { timeoutMs: 1000, maxBodyBytes: 10_240 },
          ],
        ]);
      }, 2);
    }),
  );

  it.each([
    ['no answer is a failure', new HttpFailure('request', 'EOF'), { result: 'failure', output: 'EOF' }],
    ['half an answer is an error', new HttpFailure('body', 'unexpected EOF'), 'failure: unexpected EOF'],
  ])('%s', (_, error, expected) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const httpRequest = () => cold<never>('-#', {}, error);
      expectObservable(probing({ httpGet: { port: 80 } }, { httpRequest, scheduler })).toBe('-(x|)', { x: expected });
    })();
  });
});

describe('tcpSocket', () => {
  it.each([
    ['connects', '--|', '--(s|)', '^-!'],
    ['is refused', '--#', '--(r|)', '^-!'],
    ['waits until the time is up', '-', '1s (l|)', '^ 999ms !'],
    ['is just in time', '999ms |', '999ms (s|)', '^ 998ms !'],
  ])('%s', (_, connection, expected, subscription) => {
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const connection$ = cold<never>(connection, {}, new Error('dial tcp 10.0.0.1:80: connect: connection refused'));
      const asked: unknown[] = [];
      const tcpConnect: ProbePorts['tcpConnect'] = (address) => {
        asked.push(address);
        return connection$;
      };
      expectObservable(probing({ tcpSocket: { port: 80 } }, { tcpConnect, scheduler })).toBe(expected, {
        s: { result: 'success', output: '' },
        r: { result: 'failure', output: 'dial tcp 10.0.0.1:80: connect: connection refused' },
        l: { result: 'failure', output: 'dial tcp 10.0.0.1:80: i/o timeout' },
      });
      expectSubscriptions(connection$.subscriptions).toBe(subscription);
      scheduler.schedule(() => expect(asked).toEqual([{ host: '10.0.0.1', port: 80 }]), 1);
    })();
  });
});

describe('grpc', () => {
  const progress = {
    c: { kind: 'connected' },
    s: { kind: 'answered', status: 'SERVING' },
    n: { kind: 'answered', status: 'NOT_SERVING' },
  } satisfies Record<string, HealthCheckProgress>;
  const outcomes = {
    s: { result: 'success', output: 'service healthy' },
    n: { result: 'failure', output: 'service unhealthy (responded with "NOT_SERVING")' },
    u: {
      result: 'failure',
      output: 'error: health rpc probe failed: rpc error: code = Unavailable desc = connection refused',
    },
    l: { result: 'failure', output: 'timeout: health rpc did not complete within 3s' },
    x: {
      result: 'failure',
      output: 'error: health rpc probe failed: rpc error: code = Unavailable desc = EOF',
    },
  };
  const refused = new HealthFailure('connect', 'Unavailable', 'connection refused');
  const broken = new HealthFailure('call', 'Unavailable', 'EOF');

  it.each([
    ['answered', '-c-(s|)', undefined, '---(s|)', ['^--!']],
    ['answered badly', '-c-(n|)', undefined, '---(n|)', ['^--!']],
    ['broken off in the call', '-c-#', broken, '---(x|)', ['^--!']],
    ['refused, and not tried again', '---#', refused, '---(u|)', ['^--!']],
    ['never connected', '-', undefined, '3s (l|)', ['^ 2999ms !']],
    ['never answered', '-c-', undefined, '3s (l|)', ['^ 2999ms !']],
  ])('is %s', (_, check, error, expected, subscriptions) => {
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const check$ = cold(check, progress, error);
      const checkHealth = () => check$;
      const outcome$ = probing({ grpc: { port: 80 } }, { checkHealth, scheduler }, { timeoutSeconds: 3 });
      expectObservable(outcome$).toBe(expected, outcomes);
      expectSubscriptions(check$.subscriptions).toBe(subscriptions);
    })();
  });

  it(
    'sends the time limit and the name of the service with its one request',
    marbles(({ cold, expectObservable, scheduler }) => {
      const asked: unknown[] = [];
      const checkHealth: ProbePorts['checkHealth'] = (request) => {
        asked.push(request);
        return cold('-c-(s|)', progress);
      };
      const outcome$ = probing(
        { grpc: { port: 80, service: 'cart' } },
        { checkHealth, scheduler },
        { timeoutSeconds: 3 },
      );
      expectObservable(outcome$).toBe('---(s|)', outcomes);
      scheduler.schedule(() => {
        const request = { isTls: false, service: 'cart', userAgent: 'kube-probe/1.37', timeoutMs: 3000 };
        expect(asked).toEqual([{ host: '10.0.0.1', port: 80, ...request }]);
      }, 4);
    }),
  );
});

describe('what cannot be asked is an error', () => {
  it.each<[string, Probe, Partial<ProbeTarget>, string]>([
    ['no handler', {}, {}, 'missing probe handler for web_default(u):main'],
    ['no such port', { tcpSocket: { port: 'db' } }, {}, 'the container has no port named "db"'],
    ['no port at all', { httpGet: { port: 0 } }, {}, 'invalid port number: 0'],
    ['no address', { tcpSocket: { port: 80 } }, { podIp: '' }, 'the pod has no address yet'],
    ['no address for HTTP', { httpGet: { port: 80 } }, { podIp: '' }, 'the pod has no address yet'],
    ['no address for gRPC', { grpc: { port: 80 } }, { podIp: '' }, 'the pod has no address yet'],
  ])('%s', (_, probe, target, message) => {
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(probing(probe, { scheduler }, target)).toBe('(x|)', { x: message });
    })();
  });
});

describe('a node that is too short of something to ask finds nothing out', () => {
  const shortage = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

  it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'EAGAIN', 'EADDRNOTAVAIL'])('%s', (code) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const cause = shortage(code);
      const httpRequest = () => cold<never>('-#', {}, new HttpFailure('request', 'no socket', { cause }));
      const tcpConnect = () => cold<never>('-#', {}, new Error('no socket', { cause }));
      const expected = { x: 'unknown: no socket' };
      expectObservable(probing({ httpGet: { port: 80 } }, { httpRequest, scheduler })).toBe('-(x|)', expected);
      expectObservable(probing({ tcpSocket: { port: 80 } }, { tcpConnect, scheduler })).toBe('-(x|)', expected);
    })();
  });

  it.each(['ECONNREFUSED', 'ECONNRESET', 'ETIMEDOUT', 'EHOSTUNREACH', 'ENETUNREACH', 'EACCES'])('not %s', (code) => {
    marbles(({ cold, expectObservable, scheduler }) => {
      const cause = shortage(code);
      const httpRequest = () => cold<never>('-#', {}, new HttpFailure('request', 'no answer', { cause }));
      const tcpConnect = () => cold<never>('-#', {}, new Error('no answer', { cause }));
      const expected = { x: { result: 'failure', output: 'no answer' } };
      expectObservable(probing({ httpGet: { port: 80 } }, { httpRequest, scheduler })).toBe('-(x|)', expected);
      expectObservable(probing({ tcpSocket: { port: 80 } }, { tcpConnect, scheduler })).toBe('-(x|)', expected);
    })();
  });

  it(
    'also by gRPC, before the connection and in the call',
    marbles(({ cold, expectObservable, scheduler }) => {
      const asked = (failure: HealthFailure) => {
        const checkHealth = () => cold<never>('-#', {}, failure);
        return probing({ grpc: { port: 80 } }, { checkHealth, scheduler });
      };
      const short = new HealthFailure('connect', 'Unavailable', 'no socket', { cause: shortage('EMFILE') });
      const broken = new HealthFailure('call', 'Unavailable', 'no memory', { cause: shortage('ENOMEM') });
      expectObservable(asked(short)).toBe('-(x|)', { x: 'unknown: no socket' });
      expectObservable(asked(broken)).toBe('-(x|)', { x: 'unknown: no memory' });
      const refused = new HealthFailure('connect', 'Unavailable', 'refused', { cause: shortage('ECONNREFUSED') });
      const output = 'error: health rpc probe failed: rpc error: code = Unavailable desc = refused';
      expectObservable(asked(refused)).toBe('-(x|)', { x: { result: 'failure', output } });
    }),
  );
});
