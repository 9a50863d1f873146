import { catchError, concat, concatMap, defer, EMPTY, ignoreElements, type Observable } from 'rxjs';
import type { ContainerStatus } from '../../generated/runtime/v1/api.js';
import { containerLogLink } from '../../model/cri/log-paths.js';
import { POD_NAME, POD_NAMESPACE } from '../../model/cri/labels.js';
import { terminationLogOf } from '../../model/cri/termination-message.js';
import { isCriError } from '../../model/cri/cri-error.js';
import type { RuntimeContainerState } from '../../model/pleg/runtime-pod.js';
import type { NodeFiles } from '../ports/node-files.js';
import type { RuntimeService } from '../ports/runtime-service.js';

interface RemovalPorts {
  readonly runtime: Pick<RuntimeService, 'containerStatus' | 'stopContainer' | 'removeContainer'>;
  readonly files: Pick<NodeFiles, 'remove' | 'removeLog'>;
  /** The root directory of the agent, with the files that it mounts into containers. */
  readonly rootDirectory: string;
  readonly containerLogsDirectory: string;
}

/**
 * Removes an ended container. Its logs and the link to them are removed first: if that fails the container stays, so that no file is left
 * without a container that names it. The file of its termination message is removed last.
 *
 * Errors: those of the runtime and of the files; a missing container is no error.
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
        const terminationLog = status && terminationLogOf(status, rootDirectory);
        return concat(
          status?.logPath ? files.removeLog(status.logPath) : EMPTY,
          defer(() => (status ? files.remove(linkTo(status, containerLogsDirectory)) : EMPTY)),
          defer(() => runtime.removeContainer({ containerId })).pipe(ignoreElements()),
          defer(() => (terminationLog === undefined ? EMPTY : files.remove(terminationLog))),
        );
      }),
    ),
  ).pipe(catchError(ignoreNotFound));

const linkTo = ({ id, labels, metadata }: ContainerStatus, directory: string): string => {
  const pod = { name: labels[POD_NAME] ?? '', namespace: labels[POD_NAMESPACE] ?? '' };
  return containerLogLink(directory, pod, metadata?.name ?? '', id);
};

/** For `catchError`: completes if the object to remove does not exist. */
export const ignoreNotFound = (error: unknown): Observable<never> => {
  if (isCriError(error, 'not-found')) return EMPTY;
  throw error;
};
