import { catchError, concatMap, defer, EMPTY, filter, map, mergeMap, type Observable, of } from 'rxjs';
import { containerIdOfLogLink } from '../../model/cri/log-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { Logger } from '../ports/logger.js';
import type { NodeFiles } from '../ports/node-files.js';
import type { RuntimeService } from '../ports/runtime-service.js';

interface LinkPorts {
  readonly runtime: Pick<RuntimeService, 'containerStatus'>;
  readonly files: Pick<NodeFiles, 'danglingLinks' | 'remove'>;
  readonly containerLogsDirectory: string;
  readonly log: Logger;
}

/**
 * Removes the links to missing logs, one after the other. The link of a container that has not ended stays, since its log may be missing
 * just for the moment of its rotation.
 *
 * Errors: the folder cannot be read. A link that cannot be removed is logged.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories
 */
export const removeDanglingLinks = ({ runtime, files, containerLogsDirectory, log }: LinkPorts): Observable<never> => {
  /** Emits whether the container of the link has ended, or is not known to the runtime. */
  const isOver = (name: string): Observable<boolean> => {
    const containerId = containerIdOfLogLink(name);
    if (containerId === undefined) return of(true);
    return runtime.containerStatus({ containerId }).pipe(
      map(({ status }) => status?.state === 'CONTAINER_EXITED'),
      catchError(() => of(true)),
    );
  };
  return defer(() => files.danglingLinks(containerLogsDirectory)).pipe(
    mergeMap((names) => names),
    filter((name) => name.endsWith('.log')),
    concatMap((name) =>
      isOver(name).pipe(
        concatMap((isOver) => (isOver ? files.remove(`${containerLogsDirectory}/${name}`) : EMPTY)),
        catchError((error: unknown) => {
          log.warn({ error: errorText(error) }, `the dangling link ${name} could not be removed`);
          return EMPTY;
        }),
      ),
    ),
  );
};
