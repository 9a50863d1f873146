import { concatMap, distinctUntilChanged, EMPTY, map, type Observable, type SchedulerLike, switchMap, tap } from 'rxjs';
import type { CertificateSubject, NodeCertificate } from '../../model/certificates/node-certificate.js';
import { rotationDeadline } from '../../model/certificates/rotation-deadline.js';
import { servingSubject } from '../../model/certificates/serving-subject.js';
import type { NodeAddress } from '../../model/node/node.js';
import type { ApiServer } from '../ports/api-server.js';
import type { CertificateKeys } from '../ports/certificate-keys.js';
import type { CertificateStore } from '../ports/certificate-store.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';
import { keepCertificate } from './keep-certificate.js';
import { requestCertificate } from './request-certificate.js';

export interface ServingCertificatesPorts {
  readonly api: ApiServer;
  readonly store: Pick<CertificateStore, 'current' | 'replace'>;
  readonly keys: CertificateKeys;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface ServingCertificatesOptions {
  readonly nodeName: string;
  /** The addresses of the Node, the present ones at once; none before they are known. */
  readonly addresses$: Observable<readonly NodeAddress[]>;
  /** `host:port` of the API server: the label of metrics. */
  readonly host?: string;
}

/**
 * Keeps a certificate for the server of the node in the store: requests one for the addresses of the node, a further one, with a new key,
 * after 70 to 90 % of the lifetime of the current one, and one at once for addresses that it does not contain. A request for other
 * addresses is abandoned. Emits the certificate in use at first and after each change.
 *
 * Errors: none; failures are logged and retried as by `keepCertificate`.
 * Ends:   never.
 * Source: pkg/kubelet/certificate/kubelet.go NewKubeletServerCertificateManager
 */
export const servingCertificates = (
  ports: ServingCertificatesPorts,
  { nodeName, addresses$, host }: ServingCertificatesOptions,
): Observable<NodeCertificate> => {
  const { store, keys, wallClock, metrics } = ports;
  const asking = { ...ports, use: 'serving' as const, ...(host !== undefined && { host }) };

  /** Requests and stores a new certificate. */
  const renewed = (subject: CertificateSubject, before: NodeCertificate | undefined): Observable<NodeCertificate> =>
    keys.newKey().pipe(
      concatMap((keyPem) =>
        keys.signingRequest(keyPem, subject).pipe(
          concatMap((parts) => requestCertificate(asking, parts)),
          concatMap((certificatePem) => store.replace(certificatePem, keyPem)),
        ),
      ),
      tap(() => {
        if (before) metrics.servingCertificateRotated((wallClock() - before.notBefore) / 1_000);
      }),
    );

  return addresses$.pipe(
    map((addresses) => servingSubject(nodeName, addresses)),
    distinctUntilChanged(isSameSubject),
    switchMap((subject) =>
      keepCertificate(ports, {
        use: 'serving',
        // A node without addresses uses the certificate that it has.
        dueAt: (certificate, draw) => (subject ? rotationDeadline(certificate, subject, draw) : Infinity),
        renew: (usable) => (subject ? renewed(subject, usable) : EMPTY),
        noteExpiry: metrics.servingCertificate,
        noteFailure: metrics.servingCertificateFailed,
      }),
    ),
    distinctUntilChanged((one, other) => one.fingerprint === other.fingerprint),
  );
};

const isSameSubject = (one: CertificateSubject | undefined, other: CertificateSubject | undefined): boolean =>
  JSON.stringify(one) === JSON.stringify(other);
