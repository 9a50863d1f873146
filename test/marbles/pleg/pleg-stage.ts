import { map, type Observable, type SchedulerLike } from 'rxjs';
import type { PlegEvent } from '../../../src/model/pleg/pleg.js';
import { pleg, type PlegOptions } from '../../../src/streams/pleg/pleg.js';
import { createPodCache, type PodCache } from '../../../src/streams/pleg/pod-cache.js';
import { type Answer, type FakePods, fakePods } from '../fake-pods.js';
import { every } from '../cadences.js';

/** `a c Started`, `a PodSync` */
export const summary = ({ pod: { uid }, id, type }: PlegEvent): string =>
  [uid, id, type.replace('Container', '')].filter(Boolean).join(' ');

export const turns =
  (...answers: Answer[]) =>
  (): Answer =>
    answers.shift() ?? 0;

interface Setup extends Omit<PlegOptions, 'reader' | 'cache' | 'scheduler'> {
  /** Of a cadence that never changes. */
  readonly periodMs?: number;
  readonly list?: () => Answer;
  readonly read?: (uid: string) => Answer;
}

export interface PlegStage {
  readonly runtime: FakePods;
  readonly cache: PodCache;
  readonly event$: Observable<PlegEvent>;
  readonly summary$: Observable<string>;
  /** Emits the states of the pod's containers once there is a view of it that is newer than `timeMs`. */
  readonly waited: (uid: string, timeMs: number) => Observable<string>;
}

export const setup = (scheduler: SchedulerLike, { list, read, periodMs, ...options }: Setup = {}): PlegStage => {
  const runtime = fakePods(scheduler, { ...(list ? { list } : {}), ...(read ? { read } : {}) });
  const cache = createPodCache();
  const event$ = pleg({
    reader: runtime.reader,
    cache,
    scheduler,
    ...options,
    ...(periodMs === undefined ? {} : { cadence$: every(periodMs) }),
  });
  const waited = (uid: string, timeMs: number): Observable<string> =>
    cache
      .newerThan(uid, timeMs)
      .pipe(map(({ containers }) => containers.map(({ state }) => state).join() || 'nothing'));
  return { runtime, cache, event$, summary$: event$.pipe(map(summary)), waited };
};
