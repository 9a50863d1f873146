import type { V1PodCertificateProjection } from '@kubernetes/client-node';
import type { Volume } from '../manifest/volume-defaults.js';
import type { Json, Pod } from '../pod/pod.js';

/** The source `podCertificate` of a projected volume. The client of this version does not know `userAnnotations`. */
export type PodCertificateProjection = Json<V1PodCertificateProjection> & {
  readonly userAnnotations?: Readonly<Record<string, string>>;
};

/** One source `podCertificate` of a pod. */
export interface PodCertificateSource {
  /** The key of the source on this node. */
  readonly key: string;
  readonly projection: PodCertificateProjection;
}

/** Returns the sources of one volume. Two equal sources get a certificate each, as in the kubelet. */
export const podCertificateSources = (
  { metadata: { uid } }: Pod,
  { name, projected }: Volume,
): readonly PodCertificateSource[] =>
  (projected?.sources ?? []).flatMap(({ podCertificate }, index) =>
    podCertificate ? [{ key: JSON.stringify([uid, name, index]), projection: podCertificate }] : [],
  );

/** Returns the sources of all volumes of a pod, also of those that no container mounts. */
export const podCertificateSourcesOf = (pod: Pod): readonly PodCertificateSource[] =>
  (pod.spec.volumes ?? []).flatMap((volume) => podCertificateSources(pod, volume));
