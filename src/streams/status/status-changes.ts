import { filter, map, type Observable } from 'rxjs';
import type { KubeletState } from '../sync-loop/kubelet-state.js';

/**
 * Emits the UID of each pod whose status has changed in the agent or in the API, at once.
 * Errors: none. Ends: never.
 */
export const statusChanges = ({ change$ }: Pick<KubeletState, 'change$'>): Observable<string> =>
  change$.pipe(
    filter((change) => change.kind === 'status' || change.kind === 'api-object-changed'),
    map(({ uid }) => uid),
  );
