import type { Pod } from '../pod/pod.js';
import { pemBlocks } from './pem-blocks.js';
import type { ClusterTrustBundle } from './referenced-object.js';

/** A ClusterTrustBundle, as far as volumes need it. */
export interface TrustBundle {
  readonly name: string;
  /** Empty for a bundle without a signer. */
  readonly signerName: string;
  readonly labels: Readonly<Record<string, string>>;
  /** The certificates, each as the base64 of its DER. */
  readonly certificates: readonly string[];
}

export const trustBundleOf = ({ metadata, spec }: ClusterTrustBundle): TrustBundle => ({
  name: metadata.name ?? '',
  signerName: spec.signerName ?? '',
  labels: metadata.labels ?? {},
  certificates: pemBlocks(spec.trustBundle),
});

/** Whether a volume of the pod has a source with trust bundles. */
export const refersToTrustBundles = ({ spec }: Pod): boolean =>
  (spec.volumes ?? []).some(
    ({ projected }) => projected?.sources?.some((source) => source.clusterTrustBundle) ?? false,
  );
