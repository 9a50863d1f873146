import { defer, filter, map, type Observable, of, type SchedulerLike, take, timeout } from 'rxjs';
import { recordOf } from '../../model/pleg/pleg.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { PodCache } from '../pleg/pod-cache.js';

/** The time for which housekeeping waits for the next relist before it lists the pods itself, in milliseconds. */
const RELIST_WAIT_MS = 1_500;

/**
 * Emits the running pods once, as requested after now: from the next relist, or from `list` if no relist comes in time. A second
 * listing each second would be most of the work of an idle agent.
 */
export const runningPods = (
  listing$: Observable<readonly RuntimePod[]>,
  list: () => Observable<readonly RuntimePod[]>,
  scheduler: SchedulerLike,
): Observable<readonly RuntimePod[]> =>
  defer(() => {
    const from = scheduler.now();
    return listing$.pipe(
      // A relist that was requested before may show containers that have stopped since.
      filter((pods) => pods.every(({ observedAt }) => observedAt >= from)),
      map((pods) => pods.filter(isRunning)),
      timeout({ first: RELIST_WAIT_MS, with: list, scheduler }),
      take(1),
    );
  });

export interface CachedPodsOptions {
  readonly cache: Pick<PodCache, 'entries'>;
  /** The pods of the last relist that were not in the cache then; undefined before the first relist. */
  readonly unread: () => readonly string[] | undefined;
  readonly isWorkedOn: (uid: string) => boolean;
  readonly list: () => Observable<readonly RuntimePod[]>;
}

/**
 * Emits the running pods of the cache once, which events keep up to date. Emits those of `list` while the cache does not have all pods of
 * a relist, such as that of an agent that has just started, and if it has a pod that no worker works on, or an error of a read: to stop
 * such a pod needs a new listing.
 */
export const runningPodsInCache = ({
  cache,
  unread,
  isWorkedOn,
  list,
}: CachedPodsOptions): Observable<readonly RuntimePod[]> =>
  defer(() => {
    const entries = cache.entries();
    if (!unread()?.every((uid) => entries.has(uid))) return list();
    const pods: RuntimePod[] = [];
    for (const [uid, entry] of entries) {
      if (entry.kind === 'error') return list();
      const { namespace, name } = entry.status;
      const pod = { uid, namespace, name, items: [...recordOf(entry.status).values()], observedAt: entry.observedAt };
      if (!isRunning(pod)) continue;
      if (!isWorkedOn(uid)) return list();
      pods.push(pod);
    }
    return of(pods);
  });

const isRunning = ({ items }: Pick<RuntimePod, 'items'>): boolean => items.some(({ state }) => state === 'running');
