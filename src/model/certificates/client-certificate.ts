/** The subject of a certificate. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
}

/** The fields of a certificate that the agent reads. Times are Unix milliseconds. */
export interface ClientCertificate extends CertificateSubject {
  readonly notBefore: number;
  readonly notAfter: number;
  /** The fingerprint of the certificate. */
  readonly fingerprint: string;
}

/**
 * The subject of a node's client certificate. Source: pkg/kubelet/certificate/kubelet.go
 * NewKubeletClientCertificateManager
 */
export const nodeSubject = (nodeName: string): CertificateSubject => ({
  commonName: `system:node:${nodeName}`,
  organizations: ['system:nodes'],
});

export const isExpired = ({ notAfter }: ClientCertificate, now: number): boolean => now > notAfter;

/**
 * Whether the certificate names at least the requested subject; further organizations are allowed.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go certSatisfiesTemplateLocked
 */
export const satisfies = (certificate: CertificateSubject, wanted: CertificateSubject): boolean =>
  certificate.commonName === wanted.commonName &&
  wanted.organizations.every((organization) => certificate.organizations.includes(organization));

/**
 * Returns the seconds until the certificate expires, negative after that, infinite without one: the value of the
 * metric.
 *
 * Source: cmd/kubelet/app/server.go buildKubeletClientConfig, whose gauge shows +Inf for an expired certificate too.
 */
export const secondsLeft = (notAfter: number | undefined, now: number): number =>
  notAfter === undefined ? Infinity : Math.trunc((notAfter - now) / 1_000);
