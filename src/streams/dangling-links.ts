import { catchError, concatMap, defer, EMPTY, filter, map, mergeMap, type Observable, of } from 'rxjs';
import { containerIdOfLogLink } from '../model/cri/log-paths.js';
import { errorText } from '../model/cri-error.js';
import type { Logger, NodeFiles, RuntimeService } from './ports.js';

interface LinkPorts {
  readonly runtime: Pick<RuntimeService, 'containerStatus'>;
  readonly files: Pick<NodeFiles, 'danglingLinks' | 'remove'>;
  readonly containerLogsDirectory: string;
  readonly log: Logger;
}

/**
 * Removes the links to logs that are gone, one after the other. The log of a container that has not ended may be missing only
 * for the moment of its rotation, so that such a link stays.
 *
 * Errors: the folder cannot be read. A link that cannot be removed is said.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_gc.go evictPodLogsDirectories
 */
export const removeDanglingLinks = ({ runtime, files, containerLogsDirectory, log }: LinkPorts): Observable<never> => {
  /** Emits whether nothing will ever be written there again, as far as the runtime knows. */
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
