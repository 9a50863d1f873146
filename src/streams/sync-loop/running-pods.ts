import { defer, filter, map, type Observable, of, type SchedulerLike, take, timeout } from 'rxjs';
import { recordOf } from '../../model/pleg.js';
import type { RuntimePod } from '../../model/runtime-pod.js';
import type { PodCache } from '../pod-cache.js';

/** How long housekeeping waits for a relist that comes anyway before it asks the runtime itself. Milliseconds. */
const RELIST_WAIT_MS = 1_500;

/**
 * The pods that run, asked for after now, once: from the next relist, or from `list` if none comes soon. Listing twice what
 * is listed every second anyway would be most of the work of an idle agent.
 */
export const runningPods = (
  listing$: Observable<readonly RuntimePod[]>,
  list: () => Observable<readonly RuntimePod[]>,
  scheduler: SchedulerLike,
): Observable<readonly RuntimePod[]> =>
  defer(() => {
    const from = scheduler.now();
    return listing$.pipe(
      // One that was asked for before may show what has stopped meanwhile.
      filter((pods) => pods.every(({ observedAt }) => observedAt >= from)),
      map((pods) => pods.filter(isRunning)),
      timeout({ first: RELIST_WAIT_MS, with: list, scheduler }),
      take(1),
    );
  });

/**
 * The pods that run as the cache has them, once, which events keep true; from `list` when the cache shows one that nobody works
 * on, or could not read one: what is done about that must rest on a fresh look.
 */
export const runningPodsInCache = (
  cache: Pick<PodCache, 'entries'>,
  isWorkedOn: (uid: string) => boolean,
  list: () => Observable<readonly RuntimePod[]>,
): Observable<readonly RuntimePod[]> =>
  defer(() => {
    const pods: RuntimePod[] = [];
    for (const [uid, entry] of cache.entries()) {
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
