import { defer } from 'rxjs';
import { ApiError } from '../model/kube-api/api-error.js';
import { errorText } from '../model/cri/cri-error.js';
import type { ApiIdentity } from './api-identity.js';
import { type KubeApi, kubeApi, type KubeApiOptions } from './kube-api.js';

/**
 * Makes the port to an API server for an identity whose certificate may be created later. Until its files exist, requests fail as if the
 * server did not answer.
 *
 * Errors: does not throw, unlike `kubeApi`.
 */
export const lateKubeApi = (identity: ApiIdentity, options: KubeApiOptions): KubeApi => {
  let made: KubeApi | undefined;
  const api = (): KubeApi => {
    try {
      return (made ??= kubeApi(identity, options));
    } catch (error) {
      throw new ApiError({ message: `there is no client certificate yet: ${errorText(error)}`, cause: error });
    }
  };
  return {
    server: identity.server,
    host: new URL(identity.server).host,
    closeIdle: () => made?.closeIdle(),
    resetConnections: () => made?.resetConnections(),
    close: () => made?.close(),
    request: (asked) => defer(() => api().request(asked)),
    watch: (asked) => defer(() => api().watch(asked)),
  };
};
