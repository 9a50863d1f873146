/** Nobody will sign this request, or what was signed cannot be used: asking with the same key again is of no use. */
export class CertificateRefused extends Error {
  override readonly name = 'CertificateRefused';
}
