import { defer } from 'rxjs';
import { ApiError } from '../model/api/api-error.js';
import { errorText } from '../model/cri-error.js';
import type { ApiIdentity } from './api-identity.js';
import { type KubeApi, kubeApi, type KubeApiOptions } from './kube-api.js';

/**
 * An API server as an identity whose certificate may only come later: until its files are there, requests fail as if nobody answered.
 *
 * Errors: none at once, unlike `kubeApi`.
 */
export const lateKubeApi = (identity: ApiIdentity, options: KubeApiOptions): KubeApi => {
  let made: KubeApi | undefined;
  const api = (): KubeApi => {
    try {
      return (made ??= kubeApi(identity, options));
    } catch (error) {
      throw new ApiError({ message: `there is no certificate to come with: ${errorText(error)}`, cause: error });
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
