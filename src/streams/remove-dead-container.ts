import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, type Observable } from 'rxjs';
import type { ContainerStatus } from '../generated/runtime/v1/api.js';
import { containerLogLink } from '../model/cri/log-paths.js';
import { POD_NAME, POD_NAMESPACE } from '../model/cri/labels.js';
import { terminationLogOf } from '../model/cri/termination-message.js';
import { isCriError } from '../model/cri-error.js';
import type { RuntimeContainerState } from '../model/runtime-pod.js';
import type { NodeFiles, RuntimeService } from './ports.js';

interface RemovalPorts {
  readonly runtime: Pick<RuntimeService, 'containerStatus' | 'stopContainer' | 'removeContainer'>;
  readonly files: Pick<NodeFiles, 'remove' | 'removeLog'>;
  /** Of the agent, with the files that it lent to containers. */
  readonly rootDirectory: string;
  readonly containerLogsDirectory: string;
}

/**
 * Removes a container that nobody needs any more. Its logs and the link to them go first: if they cannot be removed the
 * container stays, so that nothing is left that nobody knows of. What the agent lent it for its last words goes after it.
 *
 * Errors: why it is still there; one that has been lost already is fine.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go removeContainer
 */
export const removeDeadContainer = (
  containerId: string,
  state: RuntimeContainerState,
  { runtime, files, rootDirectory, containerLogsDirectory }: RemovalPorts,
): Observable<never> =>
  concat(
    state === 'unknown' ? runtime.stopContainer({ containerId, timeout: 2n }).pipe(ignoreElements()) : EMPTY,
    runtime.containerStatus({ containerId }).pipe(
      concatMap(({ status }) => {
        const lastWords = status && terminationLogOf(status, rootDirectory);
        return concat(
          status?.logPath ? files.removeLog(status.logPath) : EMPTY,
          defer(() => (status ? files.remove(linkTo(status, containerLogsDirectory)) : EMPTY)),
          defer(() => runtime.removeContainer({ containerId })).pipe(ignoreElements()),
          defer(() => (lastWords === undefined ? EMPTY : files.remove(lastWords))),
        );
      }),
    ),
  ).pipe(catchError(ignoreNotFound));

const linkTo = ({ id, labels, metadata }: ContainerStatus, directory: string): string => {
  const pod = { name: labels[POD_NAME] ?? '', namespace: labels[POD_NAMESPACE] ?? '' };
  return containerLogLink(directory, pod, metadata?.name ?? '', id);
};

/** For `catchError`: what is not there any more need not be removed. */
export const ignoreNotFound = (error: unknown): Observable<never> => {
  if (isCriError(error, 'not-found')) return EMPTY;
  throw error;
};
