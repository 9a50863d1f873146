import { isNotFound } from '../kube-api/api-error.js';
import type { ApiObject } from '../kube-api/api-object.js';
import type { Pod } from '../pod/pod.js';
import { cleanCertificateChain } from '../certificates/clean-certificate-chain.js';
import { errorText } from '../cri/cri-error.js';
import type { PodCertificateProjection } from './pod-certificate-source.js';

/** A PodCertificateRequest of certificates.k8s.io/v1, as far as the agent reads it. Its fields are not validated. */
export interface PodCertificateRequest extends ApiObject {
  readonly spec?: { readonly podUID?: string };
  readonly status?: {
    readonly conditions?: readonly { readonly type?: string; readonly reason?: string; readonly message?: string }[];
    /** PEM. */
    readonly certificateChain?: string;
    readonly notBefore?: string;
    readonly beginRefreshAt?: string;
    readonly notAfter?: string;
  };
}

export interface PodCertificateParties {
  readonly pod: Pod;
  readonly serviceAccountUid: string;
  readonly node: { readonly name: string; readonly uid: string };
}

/**
 * Returns the object that requests a certificate. `requestBase64` is an empty PKCS #10 request in DER and base64, signed by the key.
 *
 * Source: pkg/kubelet/podcertificate/podcertificatemanager.go createPodCertificateRequest, whose owner reference has the API version
 *         `core/v1`, under which the garbage collector finds no pod
 */
export const podCertificateRequestBody = (
  { signerName, maxExpirationSeconds, userAnnotations }: PodCertificateProjection,
  requestBase64: string,
  { pod: { metadata, spec }, serviceAccountUid, node }: PodCertificateParties,
): object => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'PodCertificateRequest',
  metadata: {
    generateName: 'req-',
    namespace: metadata.namespace,
    ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: metadata.name, uid: metadata.uid }],
  },
  spec: {
    signerName,
    podName: metadata.name,
    podUID: metadata.uid,
    serviceAccountName: spec.serviceAccountName ?? '',
    serviceAccountUID: serviceAccountUid,
    nodeName: node.name,
    nodeUID: node.uid,
    ...(maxExpirationSeconds !== undefined && { maxExpirationSeconds }),
    stubPKCS10Request: requestBase64,
    ...(userAnnotations && { unverifiedUserAnnotations: userAnnotations }),
  },
});

/** The state of a request. Times are Unix milliseconds. */
export type PodCertificateVerdict =
  | { readonly kind: 'pending' }
  | { readonly kind: 'denied' | 'failed'; readonly reason: string; readonly message: string }
  | {
      readonly kind: 'issued';
      /** PEM. */
      readonly chain: string;
      readonly notBefore: number;
      readonly beginRefreshAt: number;
      readonly notAfter: number;
    }
  /** The request is issued, and lacks a field that the API server requires then. */
  | { readonly kind: 'invalid'; readonly problem: string };

/** Reads the state of a request: the first condition of a known type decides, as in the kubelet. */
export const podCertificateVerdict = ({ status = {} }: PodCertificateRequest): PodCertificateVerdict => {
  for (const { type, reason = '', message = '' } of status.conditions ?? []) {
    if (type === 'Denied') return { kind: 'denied', reason, message };
    if (type === 'Failed') return { kind: 'failed', reason, message };
    if (type === 'Issued') return issued(status);
  }
  return { kind: 'pending' };
};

const issued = (status: NonNullable<PodCertificateRequest['status']>): PodCertificateVerdict => {
  const chain = cleanCertificateChain(status.certificateChain ?? '');
  if (chain === '') return lacks('certificateChain', 'PEM with a certificate');
  const [notBefore, beginRefreshAt, notAfter] = [status.notBefore, status.beginRefreshAt, status.notAfter].map((time) =>
    Date.parse(time ?? ''),
  ) as [number, number, number];
  if (Number.isNaN(notBefore)) return lacks('notBefore', 'a time');
  if (Number.isNaN(beginRefreshAt)) return lacks('beginRefreshAt', 'a time');
  if (Number.isNaN(notAfter)) return lacks('notAfter', 'a time');
  return { kind: 'issued', chain, notBefore, beginRefreshAt, notAfter };
};

const lacks = (field: string, expected: string): PodCertificateVerdict => ({
  kind: 'invalid',
  problem: `the issued PodCertificateRequest has no status.${field} (expected ${expected})`,
});

/** Returns the text of a failed request for requests: a server before Kubernetes 1.37 does not know them. */
export const podCertificateProblem = (error: unknown): string =>
  isNotFound(error)
    ? 'the API server does not serve podcertificaterequests of certificates.k8s.io/v1, as Kubernetes does since 1.37'
    : errorText(error);
