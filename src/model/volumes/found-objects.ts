import type { ConfigMap, Secret } from '../references/referenced-object.js';
import type { PodCertificateProjection } from '../references/pod-certificate-source.js';
import type { PodCredential } from '../references/pod-certificate-state.js';
import type { TokenPurpose } from '../references/token-request.js';
import type { TrustBundle } from '../references/trust-bundle.js';

/**
 * The objects of the namespace of a pod. A lookup returns undefined if the API server has no such object, and an Error
 * if it is unknown whether the object exists.
 */
export interface FoundObjects {
  readonly configMap: (name: string) => ConfigMap | Error | undefined;
  readonly secret: (name: string) => Secret | Error | undefined;
  readonly token: (purpose: TokenPurpose) => string | Error;
  /** All bundles of the cluster; the Error says why they are not known. */
  readonly trustBundles: () => readonly TrustBundle[] | Error;
  /** Takes the projection of the volume itself, not a copy. Errors: throws if there is no credential. */
  readonly podCertificate: (projection: PodCertificateProjection) => PodCredential;
}
