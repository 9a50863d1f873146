import type { RegistryCredential } from '../../model/images/docker-config.js';
import type { PullSecret } from '../../model/images/pull-secret.js';
import type { Pod } from '../../model/pod/pod.js';
import { type Observable, of } from 'rxjs';

/** The credentials for pulls. */
export interface CredentialPorts {
  /**
   * Emits once the credentials of this node for a repository such as `docker.io/library/nginx`, in the order in which they are tried.
   * Files that cannot be read are logged and ignored. Errors: the machine lacks a resource to read them; the pull fails by
   * that and is retried.
   */
  readonly nodeCredentials: (repository: string) => Observable<readonly RegistryCredential[]>;
  /**
   * Emits once the existing secrets of the pod's `imagePullSecrets`, in that order. Missing secrets should be left out.
   * Errors: the pull fails by them.
   */
  readonly pullSecrets: (pod: Pod) => Observable<readonly PullSecret[]>;
}

/** A node without credentials: every image is pulled anonymously. */
export const noCredentials: CredentialPorts = {
  nodeCredentials: () => of([]),
  pullSecrets: () => of([]),
};
