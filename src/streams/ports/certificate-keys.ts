import type { CertificateSubject } from '../../model/certificates/node-certificate.js';
import type { SigningRequestParts } from '../../model/certificates/signing-request.js';
import type { Observable } from 'rxjs';

/** Private keys and the signing requests of these keys. Keys are PEM. Calls are cold. */
export interface CertificateKeys {
  /** Emits a new key: ECDSA over P-256. */
  readonly newKey: () => Observable<string>;
  /** Emits a request for a certificate of the key. Errors: `keyPem` is no private key that this node can use. */
  readonly signingRequest: (keyPem: string, subject: CertificateSubject) => Observable<SigningRequestParts>;
}
