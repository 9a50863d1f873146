import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { podCertificateRequestsPath } from '../../src/model/kube-api/api-paths.js';
import type { PodCertificateRequest } from '../../src/model/references/pod-certificate-request.js';
import type { ApiOverHttp } from './api-over-http.js';
import { eventually } from './eventually.js';

const MINUTE = 60_000;

export type Request = PodCertificateRequest & { readonly spec: { readonly stubPKCS10Request: string } };
/** Every request for a certificate of a pod. */
export const requests = ({ server }: ApiOverHttp): readonly Request[] =>
  server.list(podCertificateRequestsPath()) as unknown as readonly Request[];

/** The next request that has no answer yet. */
export const asked = (api: ApiOverHttp, deadlineMs?: number): Promise<Request> =>
  eventually(
    'a certificate is requested',
    () => requests(api).find(({ status }) => status?.conditions === undefined),
    deadlineMs,
  );

export interface Signer {
  /** Its own certificate. */
  readonly ca: X509Certificate;
  /** Answers a request with a certificate that is to be refreshed after this time. */
  readonly sign: (api: ApiOverHttp, request: Request, refreshAfterMs: number) => void;
}

/** OpenSSL as the signer, with its files in a folder of the test. */
export const signer = (folder: string): Signer => {
  mkdirSync(folder, { recursive: true });
  const openssl = (...args: readonly string[]): string =>
    execFileSync('openssl', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  openssl(
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...['-subj', '/CN=signer', '-keyout', 'ca.key', '-out', 'ca.crt'],
  );
  const ca = new X509Certificate(readFileSync(join(folder, 'ca.crt')));
  return {
    ca,
    sign: ({ server }, { metadata, spec }, refreshAfterMs) => {
      writeFileSync(join(folder, 'request.der'), Buffer.from(spec.stubPKCS10Request, 'base64'));
      openssl('req', '-inform', 'DER', '-in', 'request.der', '-verify', '-noout');
      const chain = openssl(
        ...['x509', '-req', '-inform', 'DER', '-in', 'request.der', '-days', '1'],
        ...['-CA', 'ca.crt', '-CAkey', 'ca.key', '-CAcreateserial'],
      );
      const at = (ms: number): string => new Date(Date.now() + ms).toISOString();
      const path = `${podCertificateRequestsPath(metadata.namespace)}/${metadata.name}`;
      const status = {
        conditions: [{ type: 'Issued', status: 'True', reason: 'Issued', message: '' }],
        certificateChain: `a comment\n${chain}`,
        ...{ notBefore: at(-60 * MINUTE), beginRefreshAt: at(refreshAfterMs), notAfter: at(60 * MINUTE) },
      };
      server.do({ method: 'PUT', path: `${path}/status`, body: { ...server.get(path), status } });
    },
  };
};
