import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  type Observable,
  of,
  type SchedulerLike,
  share,
  throwError,
} from 'rxjs';
import { CertificateRefused } from '../../model/certificates/certificate-refused.js';
import { type NodeCertificate, nodeSubject, satisfies } from '../../model/certificates/node-certificate.js';
import { rotationDeadline } from '../../model/certificates/rotation-deadline.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { ApiServer } from '../ports/api-server.js';
import type { CertificateKeys } from '../ports/certificate-keys.js';
import type { CertificateStore } from '../ports/certificate-store.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';
import { keepCertificate } from './keep-certificate.js';
import { requestCertificate } from './request-certificate.js';

export interface ClientCertificatesPorts {
  /** As the node, with the certificate of the store. */
  readonly api: ApiServer;
  /** With the bootstrap credentials, which may request a first certificate; absent without a bootstrap kubeconfig. */
  readonly bootstrapApi?: ApiServer;
  readonly store: CertificateStore;
  readonly keys: CertificateKeys;
  /** Writes a kubeconfig that names the files of the store; absent if there is a usable one. Called once there is a certificate. */
  readonly writeKubeconfig?: () => Observable<never>;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface ClientCertificatesOptions {
  readonly nodeName: string;
  /** `rotateCertificates`: whether the next certificate is requested before the current one expires. Else only a first one is requested. */
  readonly rotate: boolean;
  /** `host:port` of the API server: the label of metrics. */
  readonly host?: string;
}

/**
 * Keeps a client certificate in the store. Requests the first one with the bootstrap credentials, and each further one, with a new key,
 * after 70 to 90 % of the lifetime of the current one. Emits the certificate in use at first and after each change; clients of
 * the API server use it from then on.
 *
 * If the certificate has expired and there are bootstrap credentials, it requests a first one again. A request with
 * these credentials survives a restart: its key is kept until the answer.
 *
 * Errors: none; failures are logged and retried after 2, 4, 8, 16 and then each 32 s.
 * Ends:   never.
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go, pkg/kubelet/certificate/bootstrap/bootstrap.go. The
 *         kubelet exits where it has had no certificate for 5 min, so as to bootstrap at its next start; this needs no restart.
 */
export const clientCertificates = (
  ports: ClientCertificatesPorts,
  options: ClientCertificatesOptions,
): Observable<NodeCertificate> =>
  defer(() => {
    const { log, metrics, writeKubeconfig } = ports;
    const subject = nodeSubject(options.nodeName);
    // Written until it has succeeded once.
    const kubeconfigWritten$ = writeKubeconfig ? defer(writeKubeconfig).pipe(share({ resetOnComplete: false })) : EMPTY;
    return keepCertificate(ports, {
      use: 'client',
      dueAt: (certificate, draw) => {
        // There are no credentials for a request.
        if (!options.rotate && !ports.bootstrapApi) return Infinity;
        if (options.rotate) return rotationDeadline(certificate, subject, draw);
        return certificate && satisfies(certificate, subject) ? certificate.notAfter + 1 : -Infinity;
      },
      renew: (usable) => renewed(ports, options, usable),
      beforeUse$: kubeconfigWritten$.pipe(
        catchError((error: unknown) => {
          log.error({ error: errorText(error) }, 'the kubeconfig could not be written');
          return EMPTY;
        }),
      ),
      noteExpiry: metrics.clientCertificate,
      noteFailure: metrics.clientCertificateFailed,
    });
  });

/** Requests and stores a new certificate. `usable`: the current one, which authenticates the request. */
const renewed = (
  ports: ClientCertificatesPorts,
  { nodeName, host }: ClientCertificatesOptions,
  usable: NodeCertificate | undefined,
): Observable<NodeCertificate> => {
  const { api, bootstrapApi, store, keys, scheduler, random, wallClock, log, metrics } = ports;
  const isBootstrap = usable === undefined && bootstrapApi !== undefined;
  const asking = {
    ...{ scheduler, random, log, metrics, use: 'client' as const },
    ...(host !== undefined && { host }),
  };
  const key$ = isBootstrap ? pendingKey(store, keys) : keys.newKey();
  const forget$ = defer(() => (isBootstrap ? store.forgetPendingKey() : EMPTY)).pipe(
    catchError((error: unknown) => {
      log.warn({ error: errorText(error) }, 'cannot remove the key of a completed request');
      return EMPTY;
    }),
  );
  return key$.pipe(
    concatMap((keyPem) =>
      keys.signingRequest(keyPem, nodeSubject(nodeName)).pipe(
        concatMap((parts) =>
          isBootstrap
            ? requestCertificate({ ...asking, api: bootstrapApi }, parts, parts.name)
            : requestCertificate(
                { ...asking, api, ...(usable && { validMs: usable.notAfter + 1 - wallClock() }) },
                parts,
              ),
        ),
        concatMap((certificatePem) => store.replace(certificatePem, keyPem)),
      ),
    ),
    concatMap((fresh) => concat(forget$, of(fresh))),
    // A request with the same key would find the refused one.
    catchError((error: unknown) =>
      concat(
        error instanceof CertificateRefused ? forget$ : EMPTY,
        throwError(() => error),
      ),
    ),
  );
};

const pendingKey = (store: CertificateStore, keys: CertificateKeys): Observable<string> =>
  store
    .pendingKey()
    .pipe(
      concatMap((pending) =>
        pending !== undefined
          ? of(pending)
          : keys
              .newKey()
              .pipe(concatMap((fresh) => concat(store.keepPendingKey(fresh).pipe(ignoreElements()), of(fresh)))),
      ),
    );
