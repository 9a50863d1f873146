/** The subject of a certificate, and the names and addresses of its server. */
export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations: readonly string[];
  /** Host names; absent in a client certificate. */
  readonly dnsNames?: readonly string[];
  /** Addresses as `formatIp` writes them; absent in a client certificate. */
  readonly ips?: readonly string[];
}

/** The fields of a certificate that the agent reads. Times are Unix milliseconds. */
export interface NodeCertificate extends CertificateSubject {
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

export const isExpired = ({ notAfter }: NodeCertificate, now: number): boolean => now > notAfter;

/**
 * Whether the certificate names at least the requested subject; further organizations, names and addresses are allowed.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go certSatisfiesTemplateLocked
 */
export const satisfies = (certificate: CertificateSubject, wanted: CertificateSubject): boolean =>
  certificate.commonName === wanted.commonName &&
  includesAll(certificate.organizations, wanted.organizations) &&
  includesAll(certificate.dnsNames, wanted.dnsNames) &&
  includesAll(certificate.ips, wanted.ips);

const includesAll = (has: readonly string[] = [], wanted: readonly string[] = []): boolean =>
  wanted.every((one) => has.includes(one));

/**
 * Returns the seconds until the certificate expires, negative after that, infinite without one: the value of the
 * metric.
 *
 * Source: cmd/kubelet/app/server.go buildKubeletClientConfig, whose gauge shows +Inf for an expired certificate too.
 */
export const secondsLeft = (notAfter: number | undefined, now: number): number =>
  notAfter === undefined ? Infinity : Math.trunc((notAfter - now) / 1_000);
