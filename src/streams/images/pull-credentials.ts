import { catchError, concatMap, defer, EMPTY, ignoreElements, map, type Observable, of, tap } from 'rxjs';
import { credentialsIn, missingSecrets, type PullCredential, pullSecretNames } from '../../model/images/pull-secret.js';
import { emitEvent, type PodSyncContext } from '../pod-sync/pod-sync-context.js';

/**
 * Emits the credentials for pulls from `repository` for the pod, in the order in which they are tried: those of its
 * `imagePullSecrets`, then those of the node. Missing secrets are left out; `reportMissingSecrets` reports them when a pull fails.
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
    return context.ports.pullSecrets(context.pod).pipe(map((secrets) => credentialsIn(secrets, repository)));
  });

/**
 * Reports the `imagePullSecrets` of the pod that do not exist by an event. For the end of a sync in which a pull has failed: a pull
 * that works, and a sync without a pull, do not need them.
 *
 * Errors: none. Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod, since 1.37
 */
export const reportMissingSecrets = (context: PodSyncContext): Observable<never> =>
  defer(() => {
    const { imagePullSecrets } = context.pod.spec;
    if (pullSecretNames(imagePullSecrets).length === 0) return EMPTY;
    return context.ports.pullSecrets(context.pod).pipe(
      tap((secrets) => {
        const missing = missingSecrets(imagePullSecrets, secrets);
        if (missing.length === 0) return;
        const message = `Unable to retrieve some image pull secrets (${missing.join(', ')}); attempting to pull the image may not succeed.`;
        emitEvent(context, 'Warning', 'FailedToRetrieveImagePullSecret', message);
      }),
      ignoreElements(),
      // Secrets that cannot be read have failed the pull with that error.
      catchError(() => EMPTY),
    );
  });
