import {
  catchError,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  ignoreElements,
  type Observable,
  of,
  type SchedulerLike,
  tap,
  throwError,
} from 'rxjs';
import { CertificateRefused } from '../../model/certificates/certificate-refused.js';
import {
  type ClientCertificate,
  isExpired,
  nodeSubject,
  satisfies,
} from '../../model/certificates/client-certificate.js';
import { renewalDelay } from '../../model/certificates/renewal-delay.js';
import { rotationDeadline } from '../../model/certificates/rotation-deadline.js';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../operators/every.js';
import type { ApiServer } from '../ports/api-server.js';
import type { CertificateKeys } from '../ports/certificate-keys.js';
import type { CertificateStore } from '../ports/certificate-store.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';
import { requestCertificate } from './request-certificate.js';

/** The longest time between two reads of the files, in milliseconds: another process may replace them, or the clock may be set. */
const READ_MS = 600_000;

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
): Observable<ClientCertificate> =>
  defer(() => {
    const { store, scheduler, random, wallClock, log, metrics, writeKubeconfig } = ports;
    const subject = nodeSubject(options.nodeName);
    let failures = 0;
    let isKubeconfigWritten = writeKubeconfig === undefined;
    let drawn = { fingerprint: '', draw: 0 };
    let waitMs = 0;

    /** The random number of a certificate: the same for each read of it. */
    const drawFor = (fingerprint: string): number => {
      if (drawn.fingerprint !== fingerprint) drawn = { fingerprint, draw: random() };
      return drawn.draw;
    };

    /** The time at which to request a certificate, Unix milliseconds. */
    const dueAt = (certificate: ClientCertificate | undefined): number => {
      // There are no credentials for a request.
      if (!options.rotate && !ports.bootstrapApi) return Infinity;
      if (options.rotate) return rotationDeadline(certificate, subject, drawFor(certificate?.fingerprint ?? ''));
      return certificate && satisfies(certificate, subject) ? certificate.notAfter + 1 : -Infinity;
    };

    const kubeconfig$ = defer(() => (isKubeconfigWritten || !writeKubeconfig ? EMPTY : writeKubeconfig())).pipe(
      tap({ complete: () => (isKubeconfigWritten = true) }),
      catchError((error: unknown) => {
        log.error({ error: errorText(error) }, 'the kubeconfig could not be written');
        return EMPTY;
      }),
    );

    const current$ = defer(() => store.current()).pipe(
      catchError((error: unknown) => {
        log.error({ error: errorText(error) }, 'the client certificate cannot be read');
        return of(undefined);
      }),
      tap((certificate) => metrics.clientCertificate(certificate?.notAfter)),
    );

    const renew = (certificate: ClientCertificate | undefined): Observable<ClientCertificate> =>
      renewed(ports, options, certificate !== undefined && !isExpired(certificate, wallClock())).pipe(
        tap((fresh) => {
          metrics.clientCertificate(fresh.notAfter);
          log.info({ until: new Date(fresh.notAfter).toISOString() }, 'stored a new client certificate');
          if (dueAt(fresh) > wallClock()) return;
          // The signer changed the requested certificate: to request again at once would never end.
          failures += 1;
          waitMs = renewalDelay(failures, random());
          log.warn({ name: fresh.commonName }, 'the new client certificate has to be replaced already');
        }),
        catchError((error: unknown) => {
          failures += 1;
          waitMs = renewalDelay(failures, random());
          metrics.clientCertificateFailed();
          log.error({ error: errorText(error), retryMs: Math.round(waitMs) }, 'cannot get a client certificate');
          return EMPTY;
        }),
      );

    const round$ = current$.pipe(
      concatMap((certificate) => {
        const usable = certificate && !isExpired(certificate, wallClock()) ? certificate : undefined;
        const leftMs = dueAt(certificate) - wallClock();
        waitMs = Math.min(Math.max(leftMs, 0), READ_MS);
        if (leftMs > 0) failures = 0;
        return concat(usable ? concat(kubeconfig$, of(usable)) : EMPTY, leftMs <= 0 ? renew(certificate) : EMPTY);
      }),
    );
    return every({ periodMs: () => waitMs, scheduler }, () => round$).pipe(
      distinctUntilChanged((one, other) => one.fingerprint === other.fingerprint),
    );
  });

/** Requests and stores a new certificate. `isUsable`: the current certificate can authenticate the request. */
const renewed = (
  ports: ClientCertificatesPorts,
  { nodeName, host }: ClientCertificatesOptions,
  isUsable: boolean,
): Observable<ClientCertificate> => {
  const { api, bootstrapApi, store, keys, scheduler, random, log, metrics } = ports;
  const isBootstrap = !isUsable && bootstrapApi !== undefined;
  const asking = { ...{ scheduler, random, log, metrics }, ...(host !== undefined && { host }) };
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
            : requestCertificate({ ...asking, api }, parts),
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
