import { defer, EMPTY, map, type Observable, of, type SchedulerLike, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type NodeCertificate, nodeSubject } from '../../../src/model/certificates/node-certificate.js';
import type { ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { clientCertificates } from '../../../src/streams/certificates/client-certificates.js';
import { metricLines } from '../../support/metric-lines.js';
import { marbles } from '../marbles.js';
import { DENIED, type Disk, signed, signer, storeOn } from './signer.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A certificate as the fakes write it: `<from> <to>` in milliseconds, of the node unless it says otherwise. */
const pemOf = (from: number, to: number, name = 'system:node:node-1'): string => `${from} ${to} ${name}`;
const parse = (pem: string): NodeCertificate => {
  const [from = '', to = '', commonName = ''] = pem.split(' ');
  return {
    ...nodeSubject('node-1'),
    commonName,
    ...{ notBefore: Number(from), notAfter: Number(to), fingerprint: pem },
  };
};

interface StageOf {
  readonly rotate?: boolean;
  readonly random?: number | (() => number);
  readonly certificate?: string;
  readonly pendingKey?: string;
  readonly api?: Parameters<typeof signer>[3];
  readonly bootstrap?: Parameters<typeof signer>[3];
  readonly writeKubeconfig?: () => Observable<never>;
}

const stage = (scheduler: SchedulerLike, given: StageOf) => {
  const lines: string[] = [];
  const logged: string[] = [];
  const log = (_: object, text: string): void => void logged.push(text);
  const disk: Disk = { certificate: given.certificate, pendingKey: given.pendingKey, keys: [] };
  const { metrics, lines: metricsOf } = metricLines();
  let made = 0;
  const { random = 0 } = given;
  const certificate$ = clientCertificates(
    {
      api: signer(scheduler, 'node', lines, given.api ?? (() => 'away')),
      ...(given.bootstrap && { bootstrapApi: signer(scheduler, 'bootstrap', lines, given.bootstrap) }),
      store: storeOn(disk, parse),
      keys: {
        newKey: () => defer(() => of(`key-${(made += 1)}`)),
        signingRequest: (keyPem) => of({ pem: `csr of ${keyPem}`, keyType: 'ec', name: `node-csr-of-${keyPem}` }),
      },
      ...(given.writeKubeconfig && { writeKubeconfig: given.writeKubeconfig }),
      ...{ scheduler, random: typeof random === 'number' ? () => random : random, wallClock: () => scheduler.now() },
      log: { debug: log, info: log, warn: log, error: log },
      metrics,
    },
    { nodeName: 'node-1', rotate: given.rotate ?? true },
  );
  return { certificate$, lines, logged, disk, metrics: metricsOf };
};

const HOUR = pemOf(0, 60 * MINUTE);
const SECOND_HOUR = pemOf(42 * MINUTE, 102 * MINUTE);

describe('the first certificate', () => {
  it(
    'is asked for with the bootstrap credentials, and there is a kubeconfig once it is signed',
    marbles(({ expectObservable, scheduler, flush }) => {
      const written: string[] = [];
      const { certificate$, ...one } = stage(scheduler, {
        bootstrap: () => ({ afterMs: 5 * SECOND, status: signed(HOUR) }),
        writeKubeconfig: () => defer(() => (written.push(one.disk.certificate ?? 'too early'), EMPTY)),
      });
      expectObservable(certificate$, '60s !').toBe('5s c', { c: parse(HOUR) });
      flush();
      expect(one.lines).toEqual(['0 bootstrap: asked node-csr-of-key-1']);
      expect(one.disk).toEqual({ certificate: HOUR, pendingKey: undefined, keys: ['key-1'] });
      expect(written).toEqual([HOUR]);
      expect(one.metrics.filter((line) => line.startsWith('clientCert'))).toEqual([
        'clientCertificate ',
        ...Array.from({ length: 2 }, () => `clientCertificate ${60 * MINUTE}`),
      ]);
    }),
  );

  it(
    'that was asked for before a restart is waited for with the key of that time',
    marbles(({ expectObservable, scheduler, flush }) => {
      const given: StageOf = { bootstrap: (created) => (created === 1 ? undefined : 'away'), pendingKey: 'kept' };
      const { certificate$, ...one } = stage(scheduler, given);
      // As one agent and then the next, over the same server and disk.
      expectObservable(certificate$, '60s !').toBe('');
      expectObservable(certificate$, '70s ^ 60s !').toBe('');
      flush();
      expect(one.lines).toEqual([
        '0 bootstrap: asked node-csr-of-kept',
        `${70 * SECOND} bootstrap: asked node-csr-of-kept again`,
      ]);
      expect(one.disk.pendingKey).toBe('kept');
    }),
  );

  it(
    'is waited for again, with the same request, after 15 min without a signature',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, { bootstrap: () => undefined });
      expectObservable(certificate$, '1000s !').toBe('');
      flush();
      expect(one.lines).toEqual([
        '0 bootstrap: asked node-csr-of-key-1',
        `${902 * SECOND} bootstrap: asked node-csr-of-key-1 again`,
      ]);
      expect(one.metrics).toContain('clientCertificateFailed');
    }),
  );

  it.each([
    ['was denied', { afterMs: SECOND, status: DENIED }],
    ['was signed too late to be of use', { afterMs: SECOND, status: signed('ended') }],
  ] as const)('is asked for with another key when the request %s', (_, fate) =>
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        bootstrap: (created) => (created === 1 ? fate : { afterMs: SECOND, status: signed(HOUR) }),
      });
      expectObservable(certificate$, '60s !').toBe('4s c', { c: parse(HOUR) });
      flush();
      expect(one.lines).toEqual([
        '0 bootstrap: asked node-csr-of-key-1',
        `${3 * SECOND} bootstrap: asked node-csr-of-key-2`,
      ]);
    })(),
  );

  it.each([
    [0, [0, 2, 6, 14, 30, 62, 94, 126]],
    [0.999, [0, 2.1998, 6.5994, 15.3986, 32.997, 64.997, 96.997]],
  ])('is requested after 2, 4, 8, 16 and then each 32 s without an answer; jitter %d', (random, seconds) =>
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, { random, bootstrap: () => 'away' });
      expectObservable(certificate$, '127s !').toBe('');
      flush();
      const asked = one.lines.map((line) => Number(line.split(' ')[0]) / SECOND);
      expect(asked).toEqual(seconds.map((second) => expect.closeTo(second, 3) as number));
      expect(one.metrics.filter((line) => line === 'clientCertificateFailed').length).toBe(seconds.length);
    })(),
  );

  it(
    'is that of the store where there is one already, and the kubeconfig is written at once',
    marbles(({ expectObservable, scheduler, flush }) => {
      let writes = 0;
      const { certificate$, ...one } = stage(scheduler, {
        ...{ certificate: HOUR, rotate: false, bootstrap: () => 'away' },
        writeKubeconfig: () =>
          defer(() => {
            writes += 1;
            return writes === 1 ? throwError(() => new Error('EACCES')) : EMPTY;
          }),
      });
      expectObservable(certificate$, '1800s !').toBe('c', { c: parse(HOUR) });
      flush();
      expect(one.lines).toEqual([]);
      // The next round repeats the failed step.
      expect([writes, one.logged]).toEqual([2, ['the kubeconfig could not be written']]);
    }),
  );
});

describe('the next certificate', () => {
  it(
    'is requested with the bootstrap credentials at once when the certificate expires while its renewal waits',
    marbles(({ expectObservable, scheduler, flush }) => {
      const next = pemOf(60 * MINUTE, 120 * MINUTE);
      const { certificate$, ...one } = stage(scheduler, {
        certificate: HOUR,
        api: () => undefined,
        bootstrap: () => ({ afterMs: 3 * SECOND, status: signed(next) }),
      });
      expectObservable(certificate$, '70m !').toBe('c 3603000ms d', { c: parse(HOUR), d: parse(next) });
      flush();
      expect(one.lines).toEqual([
        `${42 * MINUTE} node: asked for another one`,
        // 15 min and 2 s later.
        `${57 * MINUTE + 2 * SECOND} node: asked for another one`,
        `${60 * MINUTE + 1} bootstrap: asked node-csr-of-key-3`,
      ]);
    }),
  );

  it(
    'is requested again, and not waited for, once the API server does not accept the credentials any more',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        certificate: HOUR,
        api: (created) => (created === 1 ? 'unauthorized' : { afterMs: 0, status: signed(SECOND_HOUR) }),
      });
      expectObservable(certificate$, '50m !').toBe('c 2521999ms d', { c: parse(HOUR), d: parse(SECOND_HOUR) });
      flush();
      expect(one.lines).toEqual([
        `${42 * MINUTE} node: asked for another one`,
        `${42 * MINUTE + 2 * SECOND} node: asked for another one`,
      ]);
    }),
  );

  it.each([
    [0, 42],
    [0.5, 48],
  ])('is asked for with a key of its own after 70 to 90 %% of the life of the old one; draw %d', (random, minutes) =>
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        ...{ certificate: HOUR, random },
        api: () => ({ afterMs: 3 * SECOND, status: signed(SECOND_HOUR) }),
      });
      const expected = { c: parse(HOUR), d: parse(SECOND_HOUR) };
      expectObservable(certificate$, '3600s !').toBe(`c ${minutes * 60 + 3 - 0.001}s d`, expected);
      flush();
      expect(one.lines).toEqual([`${minutes * MINUTE} node: asked for another one`]);
      expect(one.disk).toEqual({ certificate: SECOND_HOUR, pendingKey: undefined, keys: ['key-1'] });
    })(),
  );

  it(
    'is asked for at the time that was drawn for the old one, however often that is looked at',
    marbles(({ expectObservable, scheduler, flush }) => {
      const draws = [0.5];
      const random = (): number => draws.shift() ?? 0;
      const { certificate$, ...one } = stage(scheduler, { certificate: HOUR, random });
      expectObservable(certificate$, '49m !').toBe('c', { c: parse(HOUR) });
      flush();
      expect(one.lines[0]).toBe(`${48 * MINUTE} node: asked for another one`);
    }),
  );

  it(
    'is requested with waits that start over with each certificate',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        certificate: HOUR,
        api: (created) => (created === 3 ? { afterMs: 0, status: signed(SECOND_HOUR) } : 'away'),
      });
      expectObservable(certificate$, '85m !').toBe('c 2525999ms d', { c: parse(HOUR), d: parse(SECOND_HOUR) });
      flush();
      const asked = one.lines.map((line) => Number(line.split(' ')[0]) / SECOND);
      expect(asked.slice(0, 6)).toEqual([42 * 60, 42 * 60 + 2, 42 * 60 + 6, 84 * 60, 84 * 60 + 2, 84 * 60 + 6]);
    }),
  );

  it(
    'that is again one of another node is not asked for without a pause',
    marbles(({ expectObservable, scheduler, flush }) => {
      const other = pemOf(0, 60 * MINUTE, 'system:node:node-2');
      const { certificate$, ...one } = stage(scheduler, { api: () => ({ afterMs: 0, status: signed(other) }) });
      expectObservable(certificate$, '31s !').toBe('c', { c: parse(other) });
      flush();
      const asked = one.lines.map((line) => Number(line.split(' ')[0]) / SECOND);
      expect(asked).toEqual([0, 2, 6, 14, 30]);
    }),
  );

  it(
    'is not asked for unless certificates are rotated, and after the end of the old one with the bootstrap credentials',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        ...{ certificate: HOUR, rotate: false },
        bootstrap: () => ({ afterMs: 0, status: signed(pemOf(0, 200 * MINUTE)) }),
      });
      expectObservable(certificate$, '7200s !').toBe('c 3600000ms d', {
        ...{ c: parse(HOUR), d: parse(pemOf(0, 200 * MINUTE)) },
      });
      flush();
      expect(one.lines).toEqual([`${60 * MINUTE + 1} bootstrap: asked node-csr-of-key-1`]);
    }),
  );

  it(
    'is not asked for with a certificate that has ended, unless there is a bootstrap or certificates are rotated',
    marbles(({ expectObservable, scheduler, flush }) => {
      const ended = pemOf(-10, -5);
      const still = stage(scheduler, { certificate: ended, rotate: false });
      const tries = stage(scheduler, { certificate: ended });
      expectObservable(still.certificate$, '10s !').toBe('');
      expectObservable(tries.certificate$, '1s !').toBe('');
      flush();
      expect(still.lines).toEqual([]);
      expect(tries.lines).toEqual(['0 node: asked for another one']);
    }),
  );

  it(
    'is asked for at once where that of the store names another node',
    marbles(({ expectObservable, scheduler, flush }) => {
      const other = pemOf(0, 60 * MINUTE, 'system:node:node-2');
      const { certificate$, ...one } = stage(scheduler, {
        ...{ certificate: other },
        api: () => ({ afterMs: 3 * SECOND, status: signed(HOUR) }),
      });
      expectObservable(certificate$, '60s !').toBe('c 2999ms d', { c: parse(other), d: parse(HOUR) });
      flush();
      expect(one.lines).toEqual(['0 node: asked for another one']);
    }),
  );

  it(
    'that another process has put into the store is found within ten minutes, and rotated later',
    marbles(({ cold, expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, { certificate: pemOf(0, 1_000 * MINUTE) });
      const theirs = pemOf(0, 2_000 * MINUTE);
      expectObservable(certificate$, '25m !').toBe('c 1199999ms d', {
        ...{ c: parse(pemOf(0, 1_000 * MINUTE)), d: parse(theirs) },
      });
      expectObservable(cold('11m x').pipe(map(() => (one.disk.certificate = theirs)))).toBe('11m x', { x: theirs });
      flush();
      expect(one.lines).toEqual([]);
    }),
  );

  it(
    'is no longer waited for after an unsubscription',
    marbles(({ expectObservable, expectSubscriptions, cold, scheduler }) => {
      const watch = cold<ApiWatchMessage>('o', { o: { kind: 'opened' } });
      const object = { metadata: { name: 'csr-1', uid: 'u', resourceVersion: '1' } };
      const nothing = (): void => undefined;
      const certificate$ = clientCertificates(
        {
          api: {
            request: ({ method }) =>
              of(method === 'POST' ? object : { metadata: { resourceVersion: '1' }, items: [object] }),
            watch: () => watch,
          },
          store: storeOn({ certificate: undefined, pendingKey: undefined, keys: [] }, parse),
          keys: { newKey: () => of('k'), signingRequest: () => of({ pem: 'p', keyType: 'ec', name: 'n' }) },
          ...{ scheduler, random: () => 0, wallClock: () => 0 },
          log: { debug: nothing, info: nothing, warn: nothing, error: nothing },
          metrics: metricLines().metrics,
        },
        { nodeName: 'node-1', rotate: true },
      );
      expectObservable(certificate$, '---!').toBe('');
      expectSubscriptions(watch.subscriptions).toBe('^--!');
    }),
  );
});
