import { concat, defer, EMPTY, map, NEVER, type Observable, of, type SchedulerLike, throwError, timer } from 'rxjs';
import { CertificateRefused } from '../../../src/model/certificates/certificate-refused.js';
import type { NodeCertificate } from '../../../src/model/certificates/node-certificate.js';
import type { CertificateSigningRequest } from '../../../src/model/certificates/signing-request.js';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import type { ApiRequest, ApiServer, ApiWatchMessage } from '../../../src/streams/ports/api-server.js';
import type { CertificateStore } from '../../../src/streams/ports/certificate-store.js';

export type Fate = NonNullable<CertificateSigningRequest['status']>;
export const signed = (pem: string): Fate => ({ conditions: [{ type: 'Approved' }], certificate: btoa(pem) });
export const DENIED: Fate = { conditions: [{ type: 'Denied', reason: 'Policy', message: 'no' }] };
const unauthorized = (): Observable<never> =>
  throwError(() => new ApiError({ code: 401, reason: 'Unauthorized', message: 'Unauthorized' }));
export const gone = (): Observable<never> => throwError(() => new ApiError({ message: 'connection refused' }));

/**
 * An API server of requests for certificates: `fate` decides each, some time after its first read. `unauthorized`: the request can be made,
 * and nothing more.
 */
export const signer = (
  scheduler: SchedulerLike,
  name: string,
  lines: string[],
  fate: (created: number) => { readonly afterMs: number; readonly status: Fate } | 'away' | 'unauthorized' | undefined,
): ApiServer => {
  const requests = new Map<string, CertificateSigningRequest>();
  let created = 0;
  const say = (text: string): void => void lines.push(`${scheduler.now()} ${name}: ${text}`);
  const fateOf = (request: CertificateSigningRequest | undefined) => fate(Number(request?.metadata.uid?.split('-')[1]));
  const create = ({ body }: ApiRequest): Observable<unknown> => {
    const { metadata } = body as { readonly metadata: { readonly name?: string } };
    const known = requests.get(metadata.name ?? '');
    say(`asked ${metadata.name ?? 'for another one'}${known ? ' again' : ''}`);
    if (known) return throwError(() => new ApiError({ code: 409, reason: 'AlreadyExists', message: 'there' }));
    created += 1;
    if (fate(created) === 'away') return gone();
    const object = {
      metadata: { name: metadata.name ?? `csr-${created}`, uid: `uid-${created}`, resourceVersion: '1' },
    };
    requests.set(object.metadata.name, object);
    return of(object);
  };
  return {
    request: (request) =>
      defer((): Observable<unknown> => {
        if (request.method === 'POST') return create(request);
        const selected = /metadata.name=(.*)/.exec(request.query?.fieldSelector ?? '')?.[1];
        const found = requests.get(selected ?? request.path.split('/').at(-1) ?? '');
        if (selected === undefined) return of(found);
        if (fateOf(found) === 'unauthorized') return unauthorized();
        return of({ metadata: { resourceVersion: '1' }, items: found ? [found] : [] });
      }),
    watch: ({ query }) =>
      defer((): Observable<ApiWatchMessage> => {
        const found = requests.get(/metadata.name=(.*)/.exec(query?.fieldSelector ?? '')?.[1] ?? '');
        const later = fateOf(found);
        if (later === 'unauthorized') return unauthorized();
        if (!found || later === undefined || later === 'away') return concat(of({ kind: 'opened' } as const), NEVER);
        const object = { ...found, metadata: { ...found.metadata, resourceVersion: '2' }, status: later.status };
        return concat(
          of({ kind: 'opened' } as const),
          timer(later.afterMs, scheduler).pipe(map(() => ({ kind: 'event', type: 'MODIFIED', object }) as const)),
          NEVER,
        );
      }),
  };
};

export interface Disk {
  certificate: string | undefined;
  pendingKey: string | undefined;
  readonly keys: string[];
}

/** A store on a fake disk. `parse` reads the certificates of a test. */
export const storeOn = (disk: Disk, parse: (pem: string) => NodeCertificate): CertificateStore => ({
  current: () => defer(() => of(disk.certificate === undefined ? undefined : parse(disk.certificate))),
  replace: (certificatePem, keyPem) =>
    defer(() => {
      if (certificatePem.startsWith('ended')) throw new CertificateRefused('the certificate has ended already');
      disk.certificate = certificatePem;
      disk.keys.push(keyPem);
      return of(parse(certificatePem));
    }),
  pendingKey: () => defer(() => of(disk.pendingKey)),
  keepPendingKey: (keyPem) =>
    defer(() => {
      disk.pendingKey = keyPem;
      return EMPTY;
    }),
  forgetPendingKey: () =>
    defer(() => {
      disk.pendingKey = undefined;
      return EMPTY;
    }),
});
