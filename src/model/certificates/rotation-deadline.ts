import { type CertificateSubject, type NodeCertificate, satisfies } from './node-certificate.js';

/**
 * A new certificate is requested after a share of the old one's lifetime between these two, different on every node.
 */
export const EARLIEST_SHARE = 0.7;
const LATEST_SHARE = 0.9;

/**
 * Returns when to request a new certificate, in Unix milliseconds: at once (-Infinity) without one, or with one of
 * another subject. `draw` is in [0, 1), one for each certificate.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go nextRotationDeadline, jitteryDuration
 */
export const rotationDeadline = (
  certificate: NodeCertificate | undefined,
  wanted: CertificateSubject,
  draw: number,
): number => {
  if (!certificate || !satisfies(certificate, wanted)) return -Infinity;
  const { notBefore, notAfter } = certificate;
  return notBefore + (notAfter - notBefore) * (EARLIEST_SHARE + (LATEST_SHARE - EARLIEST_SHARE) * draw);
};
