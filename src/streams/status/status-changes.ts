import { filter, map, type Observable } from 'rxjs';
import { isNews, type KubeletState } from '../sync-loop/kubelet-state.js';

/**
 * Emits the UID of each pod whose status has changed in the agent or in the API, at once.
 * Errors: none. Ends: never.
 */
export const statusChanges = ({ transition$ }: Pick<KubeletState, 'transition$'>): Observable<string> =>
  transition$.pipe(
    filter((transition) => transition.change.kind !== 'status' || isNews(transition)),
    map(({ change }) => change),
    filter((change) => change.kind === 'status' || change.kind === 'api-object-changed'),
    map(({ uid }) => uid),
  );
