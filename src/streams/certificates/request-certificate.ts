import {
  catchError,
  concatMap,
  defer,
  EMPTY,
  first,
  map,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timeout,
} from 'rxjs';
import { isAlreadyExists } from '../../model/api/api-error.js';
import { certificateSigningRequestPath, certificateSigningRequestsPath } from '../../model/api/api-paths.js';
import type { ReflectorEvent } from '../../model/api/reflector-event.js';
import { CertificateRefused } from '../../model/certificates/certificate-refused.js';
import {
  type CertificateSigningRequest,
  CLIENT_SIGNER,
  clientSigningRequest,
  type SigningRequestParts,
  signingVerdict,
} from '../../model/certificates/signing-request.js';
import { apiClient } from '../api/api-client.js';
import { reflector } from '../api/reflector.js';
import type { ApiServer, Logger, Metrics, Random } from '../ports.js';

/** How long a request may wait for somebody to approve and sign it. Source: client-go util/certificate certificateWaitTimeout */
const WAIT_MS = 900_000;

export interface RequestCertificatePorts {
  readonly api: ApiServer;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Of the API server, with its port: the label of metrics. */
  readonly host?: string;
}

/**
 * Asks for a client certificate and emits it, PEM, once somebody has approved and signed it. A request that has a name and is there
 * already, from an earlier run of the agent, is the one that is waited for.
 *
 * Errors: `CertificateRefused` when it was denied, has failed or was deleted; `ApiError` when it cannot be created; after 15 min that
 *         nobody signed it.
 * Source: staging/src/k8s.io/client-go/util/certificate/csr/csr.go, pkg/kubelet/certificate/bootstrap/bootstrap.go
 */
export const requestCertificate = (
  ports: RequestCertificatePorts,
  { pem, keyType }: SigningRequestParts,
  name?: string,
): Observable<string> => {
  const { api, scheduler, log, metrics, host } = ports;
  const client = apiClient(api, { qps: -1, burst: 0, scheduler, metrics, log, ...(host !== undefined && { host }) });
  const body = clientSigningRequest(btoa(pem), { keyType, ...(name !== undefined && { name }) });
  return client.create<CertificateSigningRequest>(certificateSigningRequestsPath(), body).pipe(
    catchError((error: unknown) =>
      name !== undefined && isAlreadyExists(error)
        ? client.get<CertificateSigningRequest>(certificateSigningRequestPath(name)).pipe(map(sameSigner))
        : throwError(() => error),
    ),
    concatMap((created) => signed({ ...ports, api: client }, created)),
  );
};

const sameSigner = (found: CertificateSigningRequest): CertificateSigningRequest => {
  const signer = found.spec?.signerName ?? CLIENT_SIGNER;
  if (signer === CLIENT_SIGNER) return found;
  throw new CertificateRefused(`${found.metadata.name} is there already, for the signer ${signer}`);
};

const signed = (
  { api, scheduler, random, log }: RequestCertificatePorts,
  { metadata: { name = '', uid = '', resourceVersion } }: CertificateSigningRequest,
): Observable<string> =>
  defer(() => {
    log.info({ name }, 'a client certificate was asked for, waiting for it to be approved and signed');
    let isApproved = false;
    return reflector<CertificateSigningRequest>(
      { api, scheduler, random, log },
      {
        path: certificateSigningRequestsPath(),
        fieldSelector: `metadata.name=${name}`,
        name: 'certificatesigningrequests',
        ...(resourceVersion !== undefined && { notOlderThan: resourceVersion }),
      },
    ).pipe(
      concatMap((event) => {
        const found = stateIn(event);
        if (found === undefined) return EMPTY;
        const verdict = found === 'deleted' ? deleted : signingVerdict(found, uid);
        if (verdict.kind === 'refused') {
          return throwError(() => new CertificateRefused(`request ${name} for a certificate: ${verdict.message}`));
        }
        if (verdict.kind === 'issued') return of(atob(verdict.certificateBase64));
        if (verdict.isApproved && !isApproved) log.info({ name }, 'the certificate is approved, not yet signed');
        isApproved = verdict.isApproved;
        return EMPTY;
      }),
      first(),
      timeout({
        first: WAIT_MS,
        scheduler,
        with: () =>
          throwError(
            () => new Error(`request ${name} for a certificate: nobody signed it within ${WAIT_MS / 60_000} min`),
          ),
      }),
    );
  });

const deleted = { kind: 'refused', message: 'it was deleted' } as const;

/** What is said of the one request that is followed, if anything is. */
const stateIn = (
  event: ReflectorEvent<CertificateSigningRequest>,
): CertificateSigningRequest | 'deleted' | undefined => {
  switch (event.kind) {
    case 'replaced':
      return event.objects[0] ?? 'deleted';
    case 'put':
      return event.object;
    case 'deleted':
      return 'deleted';
    case 'problem':
    case 'recovered':
      return undefined;
  }
};
