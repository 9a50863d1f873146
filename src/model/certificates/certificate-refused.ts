/** The request was refused, or its certificate cannot be used: another request with the same key is useless. */
export class CertificateRefused extends Error {
  override readonly name = 'CertificateRefused';
}
