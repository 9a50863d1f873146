import { defer, filter, map, merge, type Observable, startWith, take } from 'rxjs';
import type { AssembledPleg } from '../pleg/assemble-pleg.js';
import type { KubeletState } from './kubelet-state.js';

/**
 * Emits once every source has delivered its first set and the runtime has been listed, and completes. Before that, an absent pod may be wanted,
 * and may run.
 *
 * Errors: none.
 */
export const whenKnown = (
  { sources, change$ }: Pick<KubeletState, 'sources' | 'change$'>,
  { hasListed, relist$ }: Pick<AssembledPleg, 'hasListed' | 'relist$'>,
): Observable<void> =>
  defer(() =>
    merge(change$, relist$).pipe(
      startWith(undefined),
      filter(() => sources.all && hasListed()),
      map(() => undefined),
      take(1),
    ),
  );
