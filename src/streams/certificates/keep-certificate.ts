import {
  catchError,
  concat,
  concatMap,
  defer,
  distinctUntilChanged,
  EMPTY,
  type Observable,
  of,
  type SchedulerLike,
  tap,
} from 'rxjs';
import { isExpired, type NodeCertificate } from '../../model/certificates/node-certificate.js';
import { afterFailure, afterReading, FIRST_RENEWAL } from '../../model/certificates/renewal.js';
import type { CertificateUse } from '../../model/certificates/signing-request.js';
import { errorText } from '../../model/cri/cri-error.js';
import { every } from '../operators/every.js';
import type { CertificateStore } from '../ports/certificate-store.js';
import type { Logger } from '../ports/logger.js';
import type { Random } from '../ports/random.js';
import type { WallClock } from '../ports/wall-clock.js';

/** The longest time between two reads of the files, in milliseconds: another process may replace them, or the clock may be set. */
export const READ_MS = 600_000;

export interface KeepCertificatePorts {
  readonly store: Pick<CertificateStore, 'current'>;
  readonly scheduler: SchedulerLike;
  readonly random: Random;
  readonly wallClock: WallClock;
  readonly log: Logger;
}

export interface KeepCertificateOptions {
  readonly use: CertificateUse;
  /**
   * The time at which to request a certificate that replaces the given one, Unix milliseconds. `draw` is in [0, 1), and the same for each
   * read of a certificate.
   */
  readonly dueAt: (certificate: NodeCertificate | undefined, draw: number) => number;
  /** Requests and stores a certificate. `usable` is the current one, unless it has expired. */
  readonly renew: (usable: NodeCertificate | undefined) => Observable<NodeCertificate>;
  /** Runs before a usable certificate is emitted. Errors: none. */
  readonly beforeUse$?: Observable<never>;
  /** Takes the expiry of the current certificate, Unix milliseconds; undefined without one. */
  readonly noteExpiry: (notAfter: number | undefined) => void;
  /** Called for each attempt to get a certificate that has failed. */
  readonly noteFailure: () => void;
}

/**
 * Keeps a certificate in the store: emits the one in use at first and after each change, and renews it when it is due.
 *
 * Errors: none; failures are logged and retried after 2, 4, 8, 16 and then each 32 s.
 * Ends:   never.
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go
 */
export const keepCertificate = (
  { store, scheduler, random, wallClock, log }: KeepCertificatePorts,
  { use, dueAt, renew, beforeUse$ = EMPTY, noteExpiry, noteFailure }: KeepCertificateOptions,
): Observable<NodeCertificate> =>
  defer(() => {
    let renewal = FIRST_RENEWAL;

    const dueAtOf = (certificate: NodeCertificate | undefined): number => {
      const fingerprint = certificate?.fingerprint ?? '';
      if (renewal.fingerprint !== fingerprint) renewal = { ...renewal, fingerprint, draw: random() };
      return dueAt(certificate, renewal.draw);
    };

    const current$ = defer(() => store.current()).pipe(
      catchError((error: unknown) => {
        log.error({ error: errorText(error) }, `the ${use} certificate cannot be read`);
        return of(undefined);
      }),
      tap((certificate) => noteExpiry(certificate?.notAfter)),
    );

    const renewed = (usable: NodeCertificate | undefined): Observable<NodeCertificate> =>
      renew(usable).pipe(
        tap((fresh) => {
          noteExpiry(fresh.notAfter);
          log.info({ until: new Date(fresh.notAfter).toISOString() }, `stored a new ${use} certificate`);
          if (dueAtOf(fresh) > wallClock()) return;
          // The signer changed the requested certificate: to request again at once would never end.
          renewal = afterFailure(renewal, random());
          log.warn({ name: fresh.commonName }, `the new ${use} certificate has to be replaced already`);
        }),
        catchError((error: unknown) => {
          // A certificate that has expired meanwhile could not get another one; there may be other credentials.
          const isOver = usable !== undefined && isExpired(usable, wallClock());
          renewal = afterFailure(renewal, isOver ? undefined : random());
          noteFailure();
          const retryMs = Math.round(renewal.waitMs);
          log.error({ error: errorText(error), retryMs }, `cannot get a ${use} certificate`);
          return EMPTY;
        }),
      );

    const round$ = current$.pipe(
      concatMap((certificate) => {
        const usable = certificate && !isExpired(certificate, wallClock()) ? certificate : undefined;
        const leftMs = dueAtOf(certificate) - wallClock();
        renewal = afterReading(renewal, leftMs, READ_MS);
        return concat(usable ? concat(beforeUse$, of(usable)) : EMPTY, leftMs <= 0 ? renewed(usable) : EMPTY);
      }),
    );
    return every({ periodMs: () => renewal.waitMs, scheduler }, () => round$).pipe(
      distinctUntilChanged((one, other) => one.fingerprint === other.fingerprint),
    );
  });
