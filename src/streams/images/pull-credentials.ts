import { concatMap, defer, map, type Observable, of } from 'rxjs';
import { credentialsIn, type PullCredential, pullSecretNames } from '../../model/images/pull-secret.js';
import { emitEvent, type PodSyncContext } from '../pod-sync/pod-sync-context.js';

/**
 * Emits the credentials for pulls from `repository` for the pod, in the order in which they are tried: those of its
 * `imagePullSecrets`, then those of the node. Missing secrets are reported by an event, and the others are used.
 *
 * Errors: a secret that exists and cannot be read.
 * Source: pkg/kubelet/kubelet_pods.go getPullSecretsForPod, pkg/kubelet/images/image_manager.go makeLookupPullCredentialsFunc
 */
export const pullCredentials = (context: PodSyncContext, repository: string): Observable<readonly PullCredential[]> =>
  secretCredentials(context, repository).pipe(
    concatMap((ofSecrets) =>
      context.ports.nodeCredentials(repository).pipe(map((ofNode) => [...ofSecrets, ...ofNode])),
    ),
  );

/** Emits the credentials of the `imagePullSecrets` of the pod. */
export const secretCredentials = (context: PodSyncContext, repository: string): Observable<readonly PullCredential[]> =>
  defer(() => {
    const names = pullSecretNames(context.pod.spec.imagePullSecrets);
    if (names.length === 0) return of([]);
    return context.ports.pullSecrets(context.pod).pipe(
      map((secrets) => {
        const missing = names.filter((wanted) => !secrets.some(({ name }) => name === wanted));
        if (missing.length > 0) {
          const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
          emitEvent(context, 'Warning', 'FailedToRetrieveImagePullSecret', message);
        }
        return credentialsIn(secrets, repository);
      }),
    );
  });
