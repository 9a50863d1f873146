import type { NodeCertificate } from '../../model/certificates/node-certificate.js';
import type { Observable } from 'rxjs';

/** The client certificates of the agent with their keys, on disk. Calls are cold. */
export interface CertificateStore {
  /**
   * Emits the current certificate once; undefined if there is none. A write that a crash interrupted is completed first, or ignored.
   * Errors: the folder cannot be read, or a file is no certificate with its key; they name the path.
   */
  readonly current: () => Observable<NodeCertificate | undefined>;
  /**
   * Replaces the certificate chain and the key on disk, and emits the new certificate. Errors: as above, and the former files stay;
   * `CertificateRefused` (src/model/certificates/certificate-refused.ts) if the certificate does not belong to the key or has
   * expired.
   */
  readonly replace: (certificatePem: string, keyPem: string) => Observable<NodeCertificate>;
  /** Emits once the key of a first request that is not answered yet; it survives restarts. */
  readonly pendingKey: () => Observable<string | undefined>;
  readonly keepPendingKey: (keyPem: string) => Observable<never>;
  readonly forgetPendingKey: () => Observable<never>;
}
