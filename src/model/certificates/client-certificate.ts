/** Whom a certificate names. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** A certificate of the agent, as far as it looks at it. Times are Unix milliseconds. */
export interface ClientCertificate extends CertificateSubject {
  readonly notBefore: number;
  readonly notAfter: number;
  /** Of the certificate itself: another one has another. */
  readonly fingerprint: string;
}

/** Who a node is to the API server. Source: pkg/kubelet/certificate/kubelet.go NewKubeletClientCertificateManager */
export const nodeSubject = (nodeName: string): CertificateSubject => ({
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
});

export const isExpired = ({ notAfter }: ClientCertificate, now: number): boolean => now > notAfter;

/**
 * Names at least what is wanted; more organizations do no harm.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go certSatisfiesTemplateLocked
 */
export const satisfies = (certificate: CertificateSubject, wanted: CertificateSubject): boolean =>
  certificate.commonName === wanted.commonName &&
  wanted.organizations.every((organization) => certificate.organizations.includes(organization));

/**
 * Seconds until it ends, below zero once it has, infinitely many without one: what the metric shows.
 *
 * Source: cmd/kubelet/app/server.go buildKubeletClientConfig, whose gauge shows +Inf for a certificate that has ended too.
 */
export const secondsLeft = (notAfter: number | undefined, now: number): number =>
  notAfter === undefined ? Infinity : Math.trunc((notAfter - now) / 1_000);
