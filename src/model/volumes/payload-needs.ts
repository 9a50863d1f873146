import type { V1ServiceAccountTokenProjection } from '@kubernetes/client-node';
import type { Volume } from '../manifest/volume-defaults.js';
import type { Json, Pod } from '../pod/pod.js';
import { type PodCertificateSource, podCertificateSources } from '../references/pod-certificate-source.js';
import type { TokenPurpose } from '../references/token-request.js';

/** The objects and tokens from which the files of a volume are made, each once. */
export interface PayloadNeeds {
  readonly configMaps: readonly string[];
  readonly secrets: readonly string[];
  readonly tokens: readonly TokenPurpose[];
  readonly hasTrustBundles: boolean;
  readonly podCertificates: readonly PodCertificateSource[];
}

/** Returns the needs of one volume; nothing for a volume whose files the agent does not write. */
export const payloadNeeds = (pod: Pod, volume: Volume): PayloadNeeds => {
  const { configMap, secret, projected } = volume;
  const sources = projected?.sources ?? [];
  return {
    configMaps: names([configMap?.name, ...sources.map((source) => source.configMap?.name)]),
    secrets: names([secret?.secretName, ...sources.map((source) => source.secret?.name)]),
    tokens: sources.flatMap(({ serviceAccountToken }) =>
      serviceAccountToken ? [tokenPurpose(pod, serviceAccountToken)] : [],
    ),
    hasTrustBundles: sources.some(({ clusterTrustBundle }) => clusterTrustBundle !== undefined),
    podCertificates: podCertificateSources(pod, volume),
  };
};

/** The lifetime of a token whose source does not name one. Source: pkg/apis/core/v1/defaults.go */
const DEFAULT_EXPIRATION_SECONDS = 3600;

/** Returns the purpose of the token of one source. Source: pkg/volume/projected/projected.go */
export const tokenPurpose = (
  pod: Pod,
  { audience, expirationSeconds }: Json<V1ServiceAccountTokenProjection>,
): TokenPurpose => ({
  pod,
  namespace: pod.metadata.namespace,
  serviceAccount: pod.spec.serviceAccountName ?? '',
  audiences: audience ? [audience] : [],
  expirationSeconds: expirationSeconds ?? DEFAULT_EXPIRATION_SECONDS,
});

const names = (all: readonly (string | undefined)[]): readonly string[] => [
  ...new Set(all.filter((name): name is string => name !== undefined)),
];
