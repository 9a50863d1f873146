import type { V1ClusterTrustBundleProjection } from '@kubernetes/client-node';
import { errorText } from '../cri/cri-error.js';
import type { Json } from '../pod/pod.js';
import { type LabelMatcher, labelMatcher, type LabelSelector } from '../references/label-selector.js';
import { pemOfCertificates } from '../references/pem-blocks.js';
import type { TrustBundle } from '../references/trust-bundle.js';
import type { FoundObjects } from './found-objects.js';

/** The longest label selector, in bytes. */
const MAX_SELECTOR_BYTES = 100 * 1024;

type Source = Json<V1ClusterTrustBundleProjection>;

/**
 * Returns the file of a source with trust bundles: the certificates of the selected bundles, each once, in PEM without headers and
 * texts. They are sorted, so that the file changes only with them.
 *
 * Errors: bundles that are not known; no selected bundle, unless that is optional; an invalid selector.
 * Source: pkg/kubelet/clustertrustbundle/clustertrustbundle_manager.go GetTrustAnchorsByName, GetTrustAnchorsBySigner
 */
export const trustAnchors = (source: Source, found: Pick<FoundObjects, 'trustBundles'>): Uint8Array => {
  const bundles = found.trustBundles();
  if (bundles instanceof Error) throw bundles;
  const selected = selectedBundles(source, bundles);
  const certificates = new Set(selected.flatMap((bundle) => bundle.certificates));
  return new Uint8Array(Buffer.from(pemOfCertificates([...certificates].sort())));
};

const selectedBundles = (
  { name, signerName, labelSelector, optional = false }: Source,
  bundles: readonly TrustBundle[],
): readonly TrustBundle[] => {
  if (name !== undefined) {
    const named = bundles.filter((bundle) => bundle.name === name);
    if (named.length > 0 || optional) return named;
    throw new Error(
      `while getting ClusterTrustBundle: clustertrustbundle.certificates.k8s.io ${JSON.stringify(name)} not found`,
    );
  }
  if (signerName === undefined) return [];
  const { matches } = matcherOf(labelSelector);
  const signed = bundles.filter((bundle) => bundle.signerName === signerName && matches(bundle.labels));
  if (signed.length > 0 || optional) return signed;
  throw new Error('combination of signerName and labelSelector matched zero ClusterTrustBundles');
};

const matcherOf = (selector: LabelSelector | undefined): LabelMatcher => {
  let matcher: LabelMatcher;
  try {
    matcher = labelMatcher(selector);
  } catch (error) {
    throw new Error(`while parsing label selector: ${errorText(error)}`, { cause: error });
  }
  if (matcher.length > MAX_SELECTOR_BYTES)
    throw new Error(`label selector length (${matcher.length}) is larger than ${MAX_SELECTOR_BYTES}`);
  return matcher;
};
