import { Observable } from 'rxjs';
import type { PodStatusStore } from '../../model/pod-status-store.js';

/**
 * The UID of every pod whose status has changed, or of which the API has something new, from now on and as it happens.
 * Errors: none. Ends: never.
 */
export const statusChanges = (statuses: Pick<PodStatusStore, 'onChange'>): Observable<string> =>
  new Observable((subscriber) => statuses.onChange((uid) => subscriber.next(uid)));
