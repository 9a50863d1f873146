import { catchError, defer, forkJoin, map, of } from 'rxjs';
import { secretTexts } from '../../model/references/referenced-object.js';
import { errorText } from '../../model/cri/cri-error.js';
import { type PullSecret, pullSecretNames } from '../../model/images/pull-secret.js';
import { formatPod } from '../../model/pod/pod.js';
import type { CredentialPorts } from '../ports/credential-ports.js';
import type { Logger } from '../ports/logger.js';
import type { PodReferences } from '../ports/pod-references.js';

/**
 * Reads the pull secrets of a pod, all at the same time. A secret that cannot be read is logged and left out; the pull reports it by
 * an event.
 *
 * Source: pkg/kubelet/kubelet_pods.go getPullSecretsForPod
 */
export const pullSecretsOf =
  (read: PodReferences['secret'], log: Logger): CredentialPorts['pullSecrets'] =>
  (pod) =>
    defer(() => {
      const { namespace } = pod.metadata;
      const names = pullSecretNames(pod.spec.imagePullSecrets);
      if (names.length === 0) return of([]);
      const secrets = names.map((name) =>
        read(namespace, name, pod).pipe(
          map(({ metadata, type = '', ...secret }): readonly PullSecret[] => [
            { uid: metadata.uid ?? '', namespace, name, type, data: secretTexts({ metadata, ...secret }) },
          ]),
          catchError((error: unknown) => {
            log.info(
              { pod: formatPod(pod), secret: `${namespace}/${name}`, error: errorText(error) },
              'cannot read a pull secret, the pull may fail',
            );
            return of<readonly PullSecret[]>([]);
          }),
        ),
      );
      return forkJoin(secrets).pipe(map((found) => found.flat()));
    });

/** The pull secrets of two ports, in this order. */
export const bothPullSecrets =
  (first: CredentialPorts['pullSecrets'], second: CredentialPorts['pullSecrets']): CredentialPorts['pullSecrets'] =>
  (pod) =>
    forkJoin([first(pod), second(pod)]).pipe(map((found) => found.flat()));
