import type { Observable } from 'rxjs';

export interface PodCertificateKey {
  /** PKCS #8, PEM. */
  readonly privateKey: string;
  /** A PKCS #10 request without a subject, signed by the key: DER in base64. */
  readonly requestBase64: string;
}

/**
 * Emits a new key of a type of the source `podCertificate` (`RSA3072`, `RSA4096`, `ECDSAP256`, `ECDSAP384`, `ECDSAP521` or `ED25519`), and
 * completes. Errors: another type.
 */
export type PodCertificateKeys = (keyType: string) => Observable<PodCertificateKey>;
