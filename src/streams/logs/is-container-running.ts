import { catchError, defer, map, type Observable, of, throwError } from 'rxjs';
import { isCriError } from '../../model/cri/cri-error.js';
import type { RuntimeService } from '../ports/runtime-service.js';

/**
 * Emits once whether more lines may follow in the log of a container. A runtime that is not available reports nothing, so
 * its containers count as running; a removed container has ended.
 *
 * Errors: those of the runtime, except these.
 * Source: staging/src/k8s.io/cri-client/pkg/logs/logs.go isContainerRunning
 */
export const isContainerRunning = (
  runtime: Pick<RuntimeService, 'containerStatus'>,
  containerId: string,
): Observable<boolean> =>
  defer(() => runtime.containerStatus({ containerId })).pipe(
    map(({ status }) => status?.state === 'CONTAINER_RUNNING'),
    catchError((error: unknown) => {
      if (isCriError(error, 'unavailable') || isCriError(error, 'deadline-exceeded')) return of(true);
      return isCriError(error, 'not-found') ? of(false) : throwError(() => error);
    }),
  );
