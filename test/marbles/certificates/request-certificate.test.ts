import { concat, defer, EMPTY, NEVER, type Observable, of, throwError } from 'rxjs';
import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { CertificateRefused } from '../../../src/model/certificates/certificate-refused.js';
import { requestCertificate } from '../../../src/streams/certificates/request-certificate.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import { metricLines } from '../../support/metric-lines.js';
import { marbles } from '../marbles.js';

const PARTS = { pem: 'p', keyType: 'ec', name: 'node-csr-x' } as const;
const request = (resourceVersion: string, more: object = {}) => ({
  metadata: { name: PARTS.name, uid: 'u', resourceVersion },
  ...more,
});
const approved = (certificate?: string) => ({
  status: { conditions: [{ type: 'Approved' }], ...(certificate !== undefined && { certificate: btoa(certificate) }) },
});
const tell = (type: 'MODIFIED' | 'DELETED', object: object): ApiWatchMessage => ({ kind: 'event', type, object });
const OPENED: ApiWatchMessage = { kind: 'opened' };

/** What comes of a request whose API server answers so. */
const outcome = (
  scheduler: Parameters<typeof requestCertificate>[0]['scheduler'],
  {
    created = of(request('7')),
    found = of(request('7')),
    listed = [request('7')],
    watch$ = NEVER,
    asked = [],
    logged = [],
    isNamed = true,
  }: {
    readonly created?: Observable<unknown>;
    readonly found?: Observable<unknown>;
    readonly listed?: readonly object[];
    readonly watch$?: Observable<ApiWatchMessage>;
    readonly asked?: ApiRequest[];
    readonly logged?: string[];
    readonly isNamed?: boolean;
  },
): Observable<string> => {
  const api: ApiServer = {
    request: (one) =>
      defer(() => {
        asked.push(one);
        if (one.method === 'POST') return created;
        return one.query?.fieldSelector === undefined
          ? found
          : of({ metadata: { resourceVersion: '9' }, items: listed });
      }),
    watch: () => concat(of(OPENED), watch$),
  };
  const nothing = (): void => undefined;
  const info = (_: object, text: string): void => void logged.push(`${scheduler.now()} ${text}`);
  const log = { debug: nothing, info, warn: nothing, error: nothing };
  return requestCertificate(
    { api, scheduler, random: () => 0, log, metrics: metricLines().metrics, use: 'client' },
    PARTS,
    isNamed ? PARTS.name : undefined,
  );
};

const there = throwError(() => new ApiError({ code: 409, reason: 'AlreadyExists', message: 'there' }));
const refused = (message: string) => new CertificateRefused(message);

describe('a request for a certificate', () => {
  it(
    'is followed from where it was made until it is approved and signed',
    marbles(({ cold, expectObservable, scheduler, flush }) => {
      const asked: ApiRequest[] = [];
      const watch$ = cold('--a---s', {
        a: tell('MODIFIED', request('10', approved())),
        s: tell('MODIFIED', request('11', approved('the certificate'))),
      });
      expectObservable(outcome(scheduler, { watch$, asked })).toBe('------(c|)', { c: 'the certificate' });
      flush();
      const base = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
      expect(asked.map(({ method, path, query }) => [method, path, query?.resourceVersion])).toEqual([
        ['POST', base, undefined],
        ['GET', base, '7'],
      ]);
      expect(asked[0]?.body).toMatchObject({ metadata: { name: 'node-csr-x' }, spec: { request: btoa('p') } });
    }),
  );

  it(
    'the approval of a request is logged once, and again after it was revoked',
    marbles(({ cold, expectObservable, scheduler, flush }) => {
      const logged: string[] = [];
      const watch$ = cold('-r-a-b-s-c', {
        r: tell('MODIFIED', request('10')),
        a: tell('MODIFIED', request('11', approved())),
        b: tell('MODIFIED', request('12', approved())),
        s: tell('MODIFIED', request('13')),
        c: tell('MODIFIED', request('14', approved())),
      });
      expectObservable(outcome(scheduler, { watch$, logged }), '12ms !').toBe('');
      flush();
      expect(logged.slice(1)).toEqual([3, 9].map((ms) => `${ms} the certificate is approved, not yet signed`));
    }),
  );

  it(
    'that is there already is followed all the same, but only where it asks for the same thing',
    marbles(({ cold, expectObservable, scheduler }) => {
      const watch$ = cold('--s', { s: tell('MODIFIED', request('11', approved('the certificate'))) });
      expectObservable(outcome(scheduler, { created: there, watch$ })).toBe('--(c|)', { c: 'the certificate' });
      const found = of(request('7', { spec: { signerName: 'example.com/other' } }));
      expectObservable(outcome(scheduler, { created: there, found, watch$ })).toBe(
        '#',
        {},
        refused('node-csr-x is there already, for the signer example.com/other'),
      );
    }),
  );

  it(
    'that may have any name cannot be there already',
    marbles(({ expectObservable, scheduler }) => {
      const error = new ApiError({ code: 409, reason: 'AlreadyExists', message: 'there' });
      const asking = { created: throwError(() => error), isNamed: false };
      expectObservable(outcome(scheduler, asking)).toBe('#', {}, error);
    }),
  );

  it(
    'is no longer waited for once it is gone, or another one has its name',
    marbles(({ cold, expectObservable, scheduler }) => {
      const gone = refused('request node-csr-x for a certificate: it was deleted');
      const watch$ = cold('--d', { d: tell('DELETED', request('11')) });
      expectObservable(outcome(scheduler, { watch$ })).toBe('--#', {}, gone);
      expectObservable(outcome(scheduler, { listed: [] })).toBe('#', {}, gone);
      const another = { ...request('8'), metadata: { name: PARTS.name, uid: 'v', resourceVersion: '8' } };
      expectObservable(outcome(scheduler, { listed: [another] })).toBe(
        '#',
        {},
        refused('request node-csr-x for a certificate: another request has taken its name'),
      );
    }),
  );

  it(
    'fails after 15 min without a signature',
    marbles(({ expectObservable, scheduler }) => {
      expectObservable(outcome(scheduler, {})).toBe(
        '900s #',
        {},
        new Error('request node-csr-x for a certificate: it was not signed within 15 min'),
      );
    }),
  );

  it(
    'is not followed when it cannot be made',
    marbles(({ expectObservable, scheduler }) => {
      const error = new ApiError({ code: 403, reason: 'Forbidden', message: 'no' });
      expectObservable(outcome(scheduler, { created: throwError(() => error), watch$: EMPTY })).toBe('#', {}, error);
    }),
  );
});
