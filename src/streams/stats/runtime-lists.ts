import { catchError, defer, forkJoin, map, type Observable, of } from 'rxjs';
import type { Container, PodSandbox } from '../../generated/runtime/v1/api.js';
import { errorText, isCriError } from '../../model/cri/cri-error.js';
import {
  figuresOfContainers,
  figuresOfSandboxes,
  NO_FIGURES,
  type RuntimeFigures,
} from '../../model/stats/runtime-figures.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { RuntimeStats } from '../ports/runtime-stats.js';

export interface RuntimeLists {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
  /** The reason why the lists are not known. */
  readonly failure?: string;
}

/** Lists the ready sandboxes and the running containers. Errors: none; a failed listing is a value. */
export const runtimeLists = (
  runtime: Pick<RuntimeService, 'listPodSandbox' | 'listContainers'> | undefined,
): Observable<RuntimeLists> =>
  runtime
    ? forkJoin([
        runtime.listPodSandbox({ filter: { state: { state: 'SANDBOX_READY' } } }),
        runtime.listContainers({ filter: { state: { state: 'CONTAINER_RUNNING' } } }),
      ]).pipe(
        map(([{ items }, { containers }]) => ({ sandboxes: items, containers })),
        catchError((error: unknown) => of({ sandboxes: [], containers: [], failure: errorText(error) })),
      )
    : of({ sandboxes: [], containers: [], failure: 'the runtime is not connected yet' });

export interface ReadFigures {
  readonly figures: RuntimeFigures;
  readonly problems: readonly string[];
}

/**
 * Makes a function that reads the statistics of the runtime, of sandboxes or, if it does not implement these, of containers alone.
 * Errors: none.
 *
 * Source: pkg/kubelet/stats/cri_stats_provider.go ListPodStats
 */
export const figuresReader = (): ((stats: RuntimeStats | undefined) => Observable<ReadFigures>) => {
  let hasSandboxStats = true;
  const ofContainers = (stats: RuntimeStats): Observable<RuntimeFigures> =>
    stats.listContainerStats({}).pipe(map((reply) => figuresOfContainers(reply.stats)));
  const read = (stats: RuntimeStats): Observable<RuntimeFigures> =>
    hasSandboxStats
      ? stats.listPodSandboxStats({}).pipe(
          map((reply) => figuresOfSandboxes(reply.stats)),
          catchError((error: unknown) => {
            if (!isCriError(error, 'unimplemented')) throw error;
            hasSandboxStats = false;
            return ofContainers(stats);
          }),
        )
      : ofContainers(stats);
  return (stats) =>
    defer(() => (stats ? read(stats) : of(NO_FIGURES))).pipe(
      map((figures): ReadFigures => ({ figures, problems: [] })),
      catchError((error: unknown) => {
        // Without any statistics the cgroups alone count.
        const problems = isCriError(error, 'unimplemented') ? [] : [`statistics of the runtime: ${errorText(error)}`];
        return of({ figures: NO_FIGURES, problems });
      }),
    );
};
