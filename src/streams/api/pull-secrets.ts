import { catchError, defer, forkJoin, map, type Observable, of } from 'rxjs';
import { type Secret, secretData } from '../../model/api/referenced-object.js';
import { errorText } from '../../model/cri-error.js';
import { type PullSecret, pullSecretNames } from '../../model/images/pull-secret.js';
import { formatPod } from '../../model/pod.js';
import type { CredentialPorts, Logger } from '../ports.js';

/**
 * The secrets with which the images of a pod are pulled, all read at the same time. One that cannot be had is left out; who pulls
 * tells of it.
 *
 * Source: pkg/kubelet/kubelet_pods.go getPullSecretsForPod
 */
export const pullSecretsOf =
  (read: (namespace: string, name: string) => Observable<Secret>, log: Logger): CredentialPorts['pullSecrets'] =>
  (pod) =>
    defer(() => {
      const { namespace } = pod.metadata;
      const names = pullSecretNames(pod.spec.imagePullSecrets);
      if (names.length === 0) return of([]);
      const secrets = names.map((name) =>
        read(namespace, name).pipe(
          map(({ metadata, type = '', ...secret }): readonly PullSecret[] => [
            { uid: metadata.uid ?? '', namespace, name, type, data: secretData({ metadata, ...secret }) },
          ]),
          catchError((error: unknown) => {
            log.info(
              { pod: formatPod(pod), secret: `${namespace}/${name}`, error: errorText(error) },
              'a pull secret cannot be had, the image may not be pulled',
            );
            return of<readonly PullSecret[]>([]);
          }),
        ),
      );
      return forkJoin(secrets).pipe(map((found) => found.flat()));
    });
