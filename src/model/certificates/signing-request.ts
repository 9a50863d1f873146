import type { ApiObject } from '../kube-api/api-object.js';

/** The properties of a key for a request for a certificate. */
export interface SigningRequestParts {
  /** PKCS #10, PEM. */
  readonly pem: string;
  readonly keyType: 'ec' | 'rsa';
  /** `node-csr-` and a digest of the key, the subject and the usages: a repeated request finds the earlier one. */
  readonly name: string;
}

/** The use of a certificate: for requests of the node, or for its server. */
export type CertificateUse = 'client' | 'serving';

/** The signers of certificates of nodes. */
export const SIGNERS: Readonly<Record<CertificateUse, string>> = {
  client: 'kubernetes.io/kube-apiserver-client-kubelet',
  serving: 'kubernetes.io/kubelet-serving',
};

/** A CertificateSigningRequest of certificates.k8s.io/v1, as far as the agent reads it. Its `data` is base64. */
export interface CertificateSigningRequest extends ApiObject {
  readonly spec?: { readonly signerName?: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type: string; readonly reason?: string; readonly message?: string }[];
    /** The certificate chain, PEM in base64. */
    readonly certificate?: string;
  };
}

/**
 * The key usages of a certificate. An RSA key may encipher keys as well.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/certificate_manager.go DefaultKubeletClientGetUsages,
 *         DefaultKubeletServingGetUsages
 */
export const keyUsages = (use: CertificateUse, keyType: 'ec' | 'rsa'): readonly string[] => [
  'digital signature',
  ...(keyType === 'rsa' ? ['key encipherment'] : []),
  use === 'client' ? 'client auth' : 'server auth',
];

export interface SigningRequestOptions {
  readonly use: CertificateUse;
  readonly keyType: 'ec' | 'rsa';
  /** Without one the server generates a name. */
  readonly name?: string;
}

/**
 * Returns the object that requests a certificate. `requestBase64` is the PEM in base64.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/csr/csr.go RequestCertificateWithContext
 */
export const signingRequestObject = (requestBase64: string, { use, keyType, name }: SigningRequestOptions): object => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: name === undefined ? { generateName: 'csr-' } : { name },
  spec: { request: requestBase64, signerName: SIGNERS[use], usages: keyUsages(use, keyType) },
});

/** The state of a request. */
export type SigningVerdict =
  | { readonly kind: 'waiting'; readonly isApproved: boolean }
  | { readonly kind: 'issued'; readonly certificateBase64: string }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * Reads the state of a request that was created with `uid`. A denied or failed request stays so, with any other
 * conditions.
 *
 * Source: staging/src/k8s.io/client-go/util/certificate/csr/csr.go WaitForCertificate
 */
export const signingVerdict = ({ metadata, status }: CertificateSigningRequest, uid: string): SigningVerdict => {
  if (metadata.uid !== uid) return { kind: 'refused', message: 'another request has taken its name' };
  const conditions = status?.conditions ?? [];
  const refusal = conditions.find(({ type }) => type === 'Denied' || type === 'Failed');
  if (refusal) {
    const { type, reason = '', message = '' } = refusal;
    return {
      kind: 'refused',
      message: `it ${type === 'Denied' ? 'was denied' : 'failed'}, reason: ${reason}, message: ${message}`,
    };
  }
  const isApproved = conditions.some(({ type }) => type === 'Approved');
  const certificateBase64 = status?.certificate ?? '';
  return isApproved && certificateBase64 !== ''
    ? { kind: 'issued', certificateBase64 }
    : { kind: 'waiting', isApproved };
};
