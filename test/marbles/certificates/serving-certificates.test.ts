import { concatMap, concatWith, defer, delay, from, map, NEVER, of, type SchedulerLike } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { type NodeCertificate, nodeSubject } from '../../../src/model/certificates/node-certificate.js';
import { servingCertificates } from '../../../src/streams/certificates/serving-certificates.js';
import { metricLines } from '../../support/metric-lines.js';
import { marbles } from '../marbles.js';
import { type Disk, signed, signer, storeOn } from './signer.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;

/** A certificate as the fakes write it: `<from> <to> <address>`, with times in milliseconds. */
const pemOf = (from: number, to: number, ip = '10.0.0.1'): string => `${from} ${to} ${ip}`;
const parse = (pem: string): NodeCertificate => {
  const [from = '', to = '', ip = ''] = pem.split(' ');
  return {
    ...nodeSubject('node-1'),
    ...{ dnsNames: ['node-1'], ips: [ip] },
    ...{ notBefore: Number(from), notAfter: Number(to), fingerprint: pem },
  };
};
const HOUR = pemOf(0, 60 * MINUTE);
const MOVED = pemOf(0, 60 * MINUTE, '10.0.0.2');

const stage = (
  scheduler: SchedulerLike,
  given: {
    readonly certificate?: string;
    readonly api: Parameters<typeof signer>[3];
    /** The address of the node from each of these times on, in milliseconds. */
    readonly ips: Readonly<Record<number, string | undefined>>;
  },
) => {
  const lines: string[] = [];
  const subjects: unknown[] = [];
  const logged: string[] = [];
  const log = (_: object, text: string): void => void logged.push(text);
  const disk: Disk = { certificate: given.certificate, pendingKey: undefined, keys: [] };
  const { metrics, lines: metricsOf } = metricLines();
  let made = 0;
  const certificate$ = servingCertificates(
    {
      api: signer(scheduler, 'node', lines, given.api),
      store: storeOn(disk, parse),
      keys: {
        newKey: () => defer(() => of(`key-${(made += 1)}`)),
        signingRequest: (keyPem, subject) => {
          subjects.push(subject);
          return of({ pem: `csr of ${keyPem}`, keyType: 'ec', name: `node-csr-of-${keyPem}` });
        },
      },
      ...{ scheduler, random: () => 0, wallClock: () => scheduler.now(), metrics },
      log: { debug: log, info: log, warn: log, error: log },
    },
    {
      nodeName: 'node-1',
      addresses$: from(Object.entries(given.ips)).pipe(
        concatMap(([atMs, ip]) => of(ip).pipe(delay(Number(atMs) - scheduler.now(), scheduler))),
        map((ip) => [
          { type: 'Hostname', address: 'node-1' },
          ...(ip === undefined ? [] : [{ type: 'InternalIP', address: ip }]),
        ]),
        concatWith(NEVER),
      ),
    },
  );
  return { certificate$, lines, subjects, logged, disk, metrics: metricsOf };
};

describe('the certificate of the server', () => {
  it(
    'is requested as soon as the node has an address, for its names and addresses',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        api: () => ({ afterMs: 5 * SECOND, status: signed(HOUR) }),
        ips: { 0: undefined, 9_500: '10.0.0.1' },
      });
      expectObservable(certificate$, '60s !').toBe('14500ms c', { c: parse(HOUR) });
      flush();
      expect(one.lines).toEqual(['9500 node: asked for another one']);
      expect(one.subjects).toEqual([{ ...nodeSubject('node-1'), dnsNames: ['node-1'], ips: ['10.0.0.1'] }]);
      expect(one.disk).toEqual({ certificate: HOUR, pendingKey: undefined, keys: ['key-1'] });
      expect(one.metrics.filter((line) => line.startsWith('serving'))).toContain(`servingCertificate ${60 * MINUTE}`);
      expect(one.metrics.filter((line) => line.startsWith('client'))).toEqual([]);
    }),
  );

  it(
    'is that of the store, and is renewed with another key after 70 to 90 % of its life',
    marbles(({ expectObservable, scheduler, flush }) => {
      const next = pemOf(42 * MINUTE, 102 * MINUTE);
      const { certificate$, ...one } = stage(scheduler, {
        certificate: HOUR,
        api: () => ({ afterMs: SECOND, status: signed(next) }),
        ips: { 0: '10.0.0.1' },
      });
      expectObservable(certificate$, '50m !').toBe('h 2520999ms n', { h: parse(HOUR), n: parse(next) });
      flush();
      expect(one.lines).toEqual([`${42 * MINUTE} node: asked for another one`]);
      expect(one.metrics).toContain(`servingCertificateRotated ${42 * 60 + 1}`);
    }),
  );

  it(
    'is requested at once for another address, and a request for the former one is abandoned',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        // The first is not signed: no administrator has approved it.
        api: (created) => (created === 1 ? undefined : { afterMs: SECOND, status: signed(MOVED) }),
        ips: { 0: '10.0.0.1', 20_500: '10.0.0.2' },
      });
      expectObservable(certificate$, '60s !').toBe('21500ms m', { m: parse(MOVED) });
      flush();
      expect(one.lines).toEqual(['0 node: asked for another one', '20500 node: asked for another one']);
    }),
  );

  it(
    'for an address that the node has no more is replaced, and used until then',
    marbles(({ expectObservable, scheduler }) => {
      const { certificate$ } = stage(scheduler, {
        certificate: HOUR,
        api: () => ({ afterMs: SECOND, status: signed(MOVED) }),
        ips: { 0: '10.0.0.1', 20_500: '10.0.0.2' },
      });
      expectObservable(certificate$, '60s !').toBe('h 21499ms m', { h: parse(HOUR), m: parse(MOVED) });
    }),
  );

  it(
    'is used while the node has lost its addresses',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, {
        certificate: HOUR,
        api: () => 'away',
        ips: { 0: '10.0.0.1', 20_500: undefined },
      });
      expectObservable(certificate$, '60s !').toBe('h', { h: parse(HOUR) });
      flush();
      expect(one.lines).toEqual([]);
    }),
  );

  it(
    'is requested again after 2, 4, 8, 16 and then each 32 s without an answer, and each failure counts',
    marbles(({ expectObservable, scheduler, flush }) => {
      const { certificate$, ...one } = stage(scheduler, { api: () => 'away', ips: { 0: '10.0.0.1' } });
      expectObservable(certificate$, '127s !').toBe('');
      flush();
      expect(one.lines.map((line) => Number(line.split(' ')[0]) / SECOND)).toEqual([0, 2, 6, 14, 30, 62, 94, 126]);
      expect(one.metrics.filter((line) => line === 'servingCertificateFailed').length).toBe(8);
      expect(one.logged).toContain('cannot get a serving certificate');
    }),
  );
});
