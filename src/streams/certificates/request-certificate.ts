import {
  catchError,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  first,
  map,
  type Observable,
  of,
  type SchedulerLike,
  throwError,
  timeout,
} from 'rxjs';
import { isAlreadyExists, isUnauthorized } from '../../model/kube-api/api-error.js';
import { certificateSigningRequestPath, certificateSigningRequestsPath } from '../../model/kube-api/api-paths.js';
import type { ReflectorEvent } from '../../model/reflector/reflector-event.js';
import { CertificateRefused } from '../../model/certificates/certificate-refused.js';
import {
  type CertificateSigningRequest,
  type CertificateUse,
  signingRequestObject,
  type SigningRequestParts,
  SIGNERS,
  type SigningVerdict,
  signingVerdict,
} from '../../model/certificates/signing-request.js';
import { apiClient } from '../cluster/api-client.js';
import { reflector } from '../reflector/reflector.js';
import type { ApiServer } from '../ports/api-server.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';

/** The longest wait for the approval and the signature, in milliseconds. Source: client-go util/certificate certificateWaitTimeout */
export const WAIT_MS = 900_000;

export interface RequestCertificatePorts {
  readonly api: ApiServer;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly log: Logger;
  readonly metrics: Metrics;
  readonly use: CertificateUse;
  /** The time for which the credentials of the request are valid, in milliseconds; unknown if absent. */
  readonly validMs?: number;
  /** `host:port` of the API server: the label of metrics. */
  readonly host?: string;
}

/**
 * Requests a certificate and emits it, as PEM, once the request is approved and signed. If a request of the given `name`
 * exists, from an earlier run of the agent, waits for that one.
 *
 * Errors: `CertificateRefused` if the request is denied, fails or is deleted; `ApiError` if it cannot be created, or if the credentials
 *         are not valid any more; an `Error` if it is not signed within 15 min, or while the credentials are valid.
 * Source: staging/src/k8s.io/client-go/util/certificate/csr/csr.go, pkg/kubelet/certificate/bootstrap/bootstrap.go
 */
export const requestCertificate = (
  ports: RequestCertificatePorts,
  { pem, keyType }: SigningRequestParts,
  name?: string,
): Observable<string> => {
  const { api, scheduler, log, metrics, use, host } = ports;
  const client = apiClient(api, { qps: -1, burst: 0, scheduler, metrics, log, ...(host !== undefined && { host }) });
  const body = signingRequestObject(btoa(pem), { use, keyType, ...(name !== undefined && { name }) });
  return client.create<CertificateSigningRequest>(certificateSigningRequestsPath(), body).pipe(
    catchError((error: unknown) =>
      name !== undefined && isAlreadyExists(error)
        ? client
            .get<CertificateSigningRequest>(certificateSigningRequestPath(name))
            .pipe(map((found) => sameSigner(found, use)))
        : throwError(() => error),
    ),
    concatMap((created) => signed({ ...ports, api: client }, created)),
  );
};

const sameSigner = (found: CertificateSigningRequest, use: CertificateUse): CertificateSigningRequest => {
  const signer = found.spec?.signerName || SIGNERS[use];
  if (signer === SIGNERS[use]) return found;
  throw new CertificateRefused(`${found.metadata.name} is there already, for the signer ${signer}`);
};

const signed = (
  { api, scheduler, random, log, use, validMs = Infinity }: RequestCertificatePorts,
  { metadata: { name = '', uid = '', resourceVersion } }: CertificateSigningRequest,
): Observable<string> =>
  defer(() => {
    log.info({ name }, `requested a ${use} certificate, waiting for its approval and signature`);
    return reflector<CertificateSigningRequest>(
      { api, scheduler, random, log },
      {
        path: certificateSigningRequestsPath(),
        fieldSelector: `metadata.name=${name}`,
        name: 'certificatesigningrequests',
        ...(resourceVersion !== undefined && { notOlderThan: resourceVersion }),
      },
    ).pipe(
      concatMap((event): Observable<SigningVerdict> => {
        if (event.kind === 'problem' && isUnauthorized(event.error)) return throwError(() => event.error);
        const found = stateIn(event);
        if (found === undefined) return EMPTY;
        return of(found === 'deleted' ? deleted : signingVerdict(found, uid));
      }),
      distinctUntilChanged(isSameWait),
      concatMap((verdict) => {
        if (verdict.kind === 'refused') {
          return throwError(() => new CertificateRefused(`request ${name} for a certificate: ${verdict.message}`));
        }
        if (verdict.kind === 'issued') return of(atob(verdict.certificateBase64));
        if (verdict.isApproved) log.info({ name }, 'the certificate is approved, not yet signed');
        return EMPTY;
      }),
      first(),
      timeout({
        first: Math.min(WAIT_MS, validMs),
        scheduler,
        with: () => {
          const when = validMs < WAIT_MS ? 'before the current one expired' : `within ${WAIT_MS / 60_000} min`;
          return throwError(() => new Error(`request ${name} for a certificate: it was not signed ${when}`));
        },
      }),
    );
  });

const deleted: SigningVerdict = { kind: 'refused', message: 'it was deleted' };

/** Whether a request still waits for the same step, so that there is nothing to log. */
const isSameWait = (before: SigningVerdict, verdict: SigningVerdict): boolean =>
  before.kind === 'waiting' && verdict.kind === 'waiting' && before.isApproved === verdict.isApproved;

/** The state of the watched request in an event; undefined if the event has none. */
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
