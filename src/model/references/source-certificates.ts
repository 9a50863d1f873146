import { OrderedMap } from 'immutable';
import { objectKey } from '../kube-api/api-object.js';
import type { Pod } from '../pod/pod.js';
import { foldKnownObjects, type KnownObjects } from '../reflector/known-objects.js';
import type { ReflectorEvent } from '../reflector/reflector-event.js';
import { updated } from '../values/updated.js';
import { podCertificateProblem, type PodCertificateRequest } from './pod-certificate-request.js';
import type { PodCertificateSource } from './pod-certificate-source.js';
import {
  credentialOf,
  type ClockReading,
  NOT_REQUESTED,
  podCertificateLabel,
  type PodCertificateState,
  type PodCredential,
} from './pod-certificate-state.js';

/** The certificate of one source of a pod. */
export interface SourceCertificate {
  readonly pod: Pod;
  /** The same value while the pod is registered. */
  readonly source: PodCertificateSource;
  readonly state: PodCertificateState;
  /** A key whose request the API server does not have yet, as far as is known. */
  readonly unsent?: UnsentKey | undefined;
  /** Failed attempts in a row to request it. */
  readonly failures: number;
  /** Why there is no newer certificate. */
  readonly problem?: string | undefined;
}

/** A key, PKCS #8 in PEM, and its request, DER in base64. */
interface UnsentKey {
  readonly privateKey: string;
  readonly requestBase64: string;
}

/** The certificates of the pods of a node, and the requests for them as the API server has them. */
export interface SourceCertificates {
  /** By the key of the source, in the order in which the pods were registered. */
  readonly certificates: OrderedMap<string, SourceCertificate>;
  readonly requests: KnownObjects<PodCertificateRequest>;
}

export const NO_CERTIFICATES: SourceCertificates = { certificates: OrderedMap(), requests: {} };

/** Adds a source, without a certificate. */
export const withCertificateSource = (
  state: SourceCertificates,
  pod: Pod,
  source: PodCertificateSource,
): SourceCertificates => ({
  ...state,
  certificates: state.certificates.set(source.key, { pod, source, state: NOT_REQUESTED, failures: 0 }),
});

/** Changes fields of a certificate. One whose pod has been dropped since, and maybe registered again, is left out. */
export const withCertificate = (
  state: SourceCertificates,
  { source }: SourceCertificate,
  fields: Partial<SourceCertificate>,
): SourceCertificates => {
  const known = state.certificates.get(source.key);
  if (known?.source !== source) return state;
  return { ...state, certificates: state.certificates.set(source.key, updated(known, fields)) };
};

/** Drops the keys and certificates of a pod; the same state if it has none. */
export const withoutCertificates = (state: SourceCertificates, podUid: string): SourceCertificates => {
  const keys = keysOfPod(state, podUid);
  return keys.length === 0 ? state : { ...state, certificates: state.certificates.deleteAll(keys) };
};

/** Takes an event of the watch of requests. */
export const withRequestEvent = (
  state: SourceCertificates,
  event: ReflectorEvent<PodCertificateRequest>,
): SourceCertificates => ({ ...state, requests: foldKnownObjects(state.requests, event) });

/** The requests are not watched any more. */
export const withoutRequests = (state: SourceCertificates): SourceCertificates => ({ ...state, requests: {} });

/** Returns the keys of the certificates that an event of the watch of requests is about. */
export const keysAbout = (
  state: SourceCertificates,
  event: ReflectorEvent<PodCertificateRequest>,
): readonly string[] => {
  if (event.kind === 'replaced') return [...state.certificates.keys()];
  if (event.kind === 'put' || event.kind === 'deleted') return keysOfPod(state, event.object.spec?.podUID ?? '');
  return [];
};

const keysOfPod = ({ certificates }: SourceCertificates, podUid: string): readonly string[] => [
  ...certificates.filter(({ pod }) => pod.metadata.uid === podUid).keys(),
];

/** Returns the request of a certificate whose answer is awaited; undefined if there is none, or it cannot be seen. */
export const awaitedRequest = (
  { requests }: SourceCertificates,
  { pod, state }: SourceCertificate,
): PodCertificateRequest | undefined => {
  const name = awaitedName(state);
  if (name === undefined) return undefined;
  return requests.objects?.get(objectKey({ metadata: { namespace: pod.metadata.namespace, name } }));
};

const awaitedName = (state: PodCertificateState): string | undefined =>
  state.kind === 'denied' || state.kind === 'failed' ? undefined : state.awaited?.name;

/** Returns the credential of a source. Errors: throws if there is none, and says why. */
export const credentialIn = ({ certificates, requests }: SourceCertificates, key: string): PodCredential => {
  const one = certificates.get(key);
  if (!one) throw new Error('no credentials yet: the pod is not registered');
  const ofWatch = requests.problem === undefined ? undefined : podCertificateProblem(requests.problem);
  return credentialOf(one.state, one.problem ?? ofWatch);
};

/** The outcome of the request for a certificate. */
export type PodCertificateOutcome =
  /** `request`: the name of the request. */
  | { readonly kind: 'issued'; readonly request: string }
  /** There will be no certificate. */
  | { readonly kind: 'denied' | 'failed'; readonly message: string };

/** Returns the outcome that a certificate has in this state, and had not before; undefined without a new one. */
export const newOutcome = (
  { pod, state: before }: SourceCertificate,
  state: PodCertificateState,
): PodCertificateOutcome | undefined => {
  if (before === state) return undefined;
  const request = awaitedName(before) ?? '';
  switch (state.kind) {
    case 'waiting':
      return undefined;
    case 'issued': {
      const isSame = before.kind === 'issued' && before.issued.credential === state.issued.credential;
      return isSame ? undefined : { kind: 'issued', request };
    }
    case 'denied':
    case 'failed': {
      const verb = state.kind === 'denied' ? 'was denied' : 'failed';
      const [reason, message] = [JSON.stringify(state.reason), JSON.stringify(state.message)];
      const name = `${pod.metadata.namespace}/${request}`;
      return {
        kind: state.kind,
        message: `PodCertificateRequest ${name} ${verb}, reason=${reason}, message=${message}`,
      };
    }
  }
};

/** Returns the number of sources by signer and label. Source: metricsState */
export const podCertificateCounts = (
  { certificates }: SourceCertificates,
  clock: ClockReading,
): readonly SourceCount[] => {
  const counts = certificates.reduce((before, { source, state }) => {
    const { signerName } = source.projection;
    const label = podCertificateLabel(state, clock);
    const none: SourceCount = { signerName, state: label, count: 0 };
    return before.update(JSON.stringify([signerName, label]), none, (one) => ({ ...one, count: one.count + 1 }));
  }, OrderedMap<string, SourceCount>());
  return [...counts.values()];
};

interface SourceCount {
  readonly signerName: string;
  /** A label of `podCertificateLabel`. */
  readonly state: string;
  readonly count: number;
}
