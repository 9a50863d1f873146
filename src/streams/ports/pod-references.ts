import type { Pod } from '../../model/pod/pod.js';
import type { ConfigMap, Secret, Service } from '../../model/references/referenced-object.js';
import type { TrustBundle } from '../../model/references/trust-bundle.js';
import type { Observable } from 'rxjs';

/**
 * The objects of the API that pods refer to. Only the objects of registered pods are held.
 *
 * Source: pkg/kubelet/configmap, pkg/kubelet/secret
 */
export interface PodReferences {
  /** Holds the objects of the pod from now on; a newer spec of the same pod replaces the older one. */
  readonly register: (pod: Pod) => void;
  /** Releases the objects of the pod, and its tokens. Objects without another pod are dropped. An unregistered pod is no error. */
  readonly unregister: (pod: Pod) => void;
  /**
   * Emits the newest known object once. `pod` is the reader, in the namespace of the object: on a node without an API server it reads the
   * objects of its own source. Errors: an `ApiError` NotFound if the object does not exist; another error if that is not known, such as
   * when it cannot be read in time.
   */
  readonly configMap: (namespace: string, name: string, pod: Pod) => Observable<ConfigMap>;
  /** The same for a Secret. */
  readonly secret: (namespace: string, name: string, pod: Pod) => Observable<Secret>;
  /**
   * Emits all trust bundles of the cluster once; absent on a node without an API server. Errors: the server has no such objects, or has
   * not answered.
   */
  readonly trustBundles?: () => Observable<readonly TrustBundle[]>;
  /**
   * Emits whenever the content of an object that a registered pod refers to, or a certificate of the pod, may have changed.
   * Never errors or ends.
   */
  readonly changed$: Observable<ReferenceChange>;
  /** The services of all namespaces; undefined until they have been read once. */
  readonly services: () => readonly Service[] | undefined;
}

/** The name of an object that pods refer to. */
export interface ReferencedName {
  /** `PodCertificate`: the certificates of the pod of that name. */
  readonly kind: 'ConfigMap' | 'Secret' | 'PodCertificate';
  readonly namespace: string;
  readonly name: string;
}

/** A change of one object, or of trust bundles, which pods may select by labels. */
export type ReferenceChange = ReferencedName | { readonly kind: 'ClusterTrustBundles' };
