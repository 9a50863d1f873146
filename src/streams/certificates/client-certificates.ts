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
  repeat,
  type SchedulerLike,
  tap,
  throwError,
  timer,
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
import { errorText } from '../../model/cri-error.js';
import type { ApiServer, CertificateKeys, CertificateStore, Logger, Metrics, Random, WallClock } from '../ports.js';
import { requestCertificate } from './request-certificate.js';

/** How long nobody looks at the files at most: somebody else may have put a certificate there, or the clock may have been set. */
const LOOK_MS = 600_000;

export interface ClientCertificatesPorts {
  /** As the node, with the certificate of the store. */
  readonly api: ApiServer;
  /** As somebody who may ask for a first certificate, where there is a bootstrap kubeconfig. */
  readonly bootstrapApi?: ApiServer;
  readonly store: CertificateStore;
  readonly keys: CertificateKeys;
  /** Writes the kubeconfig that names the files of the store, where there is none that can be used; is asked once there is a certificate. */
  readonly writeKubeconfig?: () => Observable<never>;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
  readonly log: Logger;
  readonly metrics: Metrics;
}

export interface ClientCertificatesOptions {
  readonly nodeName: string;
  /** `rotateCertificates`: the next certificate is asked for before this one ends. Otherwise only a first one is. */
  readonly rotate: boolean;
  /** Of the API server, with its port: the label of metrics. */
  readonly host?: string;
}

/**
 * Keeps a client certificate in the store: asks for the first one with the bootstrap credentials, and for the next one, with a key of
 * its own, after 70 to 90 % of the life of each. Emits the certificate in use, at first and whenever it is another one; whoever speaks
 * to the API server uses the new one from then on.
 *
 * Where the certificate has ended and there are bootstrap credentials, it begins anew with them. The request that is made with these
 * survives a restart: its key is kept until it is answered.
 *
 * Errors: none; what fails is logged and tried again after 2, 4, 8, 16 and then each 32 s.
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

    /** The same for a certificate however often it is looked at. */
    const drawFor = (fingerprint: string): number => {
      if (drawn.fingerprint !== fingerprint) drawn = { fingerprint, draw: random() };
      return drawn.draw;
    };

    /** When to ask for a certificate, Unix milliseconds. */
    const dueAt = (certificate: ClientCertificate | undefined): number => {
      // Nobody would sign with what has ended.
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
          log.info({ until: new Date(fresh.notAfter).toISOString() }, 'there is a new client certificate');
          if (dueAt(fresh) > wallClock()) return;
          // Whoever signs makes something else of a request: asking again at once would never end.
          failures += 1;
          waitMs = renewalDelay(failures, random());
          log.warn({ name: fresh.commonName }, 'the new client certificate is to be replaced already');
        }),
        catchError((error: unknown) => {
          failures += 1;
          waitMs = renewalDelay(failures, random());
          metrics.clientCertificateFailed();
          log.error({ error: errorText(error), retryMs: Math.round(waitMs) }, 'no client certificate was got');
          return EMPTY;
        }),
      );

    const round$ = current$.pipe(
      concatMap((certificate) => {
        const usable = certificate && !isExpired(certificate, wallClock()) ? certificate : undefined;
        const leftMs = dueAt(certificate) - wallClock();
        waitMs = Math.min(Math.max(leftMs, 0), LOOK_MS);
        if (leftMs > 0) failures = 0;
        return concat(usable ? concat(kubeconfig$, of(usable)) : EMPTY, leftMs <= 0 ? renew(certificate) : EMPTY);
      }),
    );
    return round$.pipe(
      repeat({ delay: () => timer(waitMs, scheduler) }),
      distinctUntilChanged((one, other) => one.fingerprint === other.fingerprint),
    );
  });

/** A new certificate, stored. `isUsable`: there is one with which to ask for it. */
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
      log.warn({ error: errorText(error) }, 'the key of a request that is answered could not be removed');
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
    // Whoever asks with this key again finds the request that was refused.
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
