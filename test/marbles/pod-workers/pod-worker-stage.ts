import { EMPTY, map, mergeMap, type Observable, of } from 'rxjs';
import type { Pod } from '../../../src/model/pod/pod.js';
import type { PodUpdate } from '../../../src/model/pod-workers/pod-update.js';
import type { Wake } from '../../../src/model/pod-workers/wake.js';
import { emptyPodStatus } from '../../../src/model/pleg/runtime-pod.js';
import {
  type PodWork,
  podWorkers,
  type PodWorkerOptions,
  type WorkerOutcome,
} from '../../../src/streams/pod-workers/pod-workers.js';
import { kubeletState } from '../../../src/streams/sync-loop/kubelet-state.js';

export const SECOND = 1_000;
export const MINUTE = 60 * SECOND;

export type Updates = Readonly<Record<string, PodUpdate>>;
export const create = (pod: Pod): PodUpdate => ({ type: 'create', pod, causes: [] });
export const sync = (pod: Pod): PodUpdate => ({ type: 'sync', pod, causes: [] });
export const kill = (pod: Pod, graceSeconds?: number): PodUpdate => ({
  type: 'kill',
  pod,
  kill: { graceSeconds },
  causes: [],
});

/** Work that ends at once and well. */
export const idle: PodWork = {
  syncPod: () => of({ isTerminal: false }),
  syncTerminatingPod: () => EMPTY,
  syncTerminatingRuntimePod: () => EMPTY,
  syncTerminatedPod: () => EMPTY,
};

export const optionsWith = (
  options: Partial<PodWorkerOptions> & Pick<PodWorkerOptions, 'scheduler'>,
): PodWorkerOptions => ({
  state: kubeletState(),
  work: idle,
  newerThan: (uid) => of(emptyPodStatus({ uid, namespace: 'default', name: 'web' })),
  record: () => 'id',
  recordEvent: () => undefined,
  random: () => 0,
  wallClock: () => options.scheduler.now(),
  resyncIntervalMs: MINUTE,
  ...options,
});

/** Feeds updates through the registry into the workers and shows each outcome as `uid:work:next` with its delay. */
export const outcomes = (update$: Observable<PodUpdate>, options: PodWorkerOptions): Observable<string> =>
  update$.pipe(
    mergeMap((update): readonly Wake[] => options.state.workers.update(update, options.scheduler.now())),
    podWorkers(options),
    map((outcome) => brief(outcome, options.scheduler.now())),
  );
const brief = ({ uid, work, next, dueAt }: WorkerOutcome, now: number) =>
  `${uid} ${work} ${next}${dueAt === undefined ? '' : ` ${dueAt - now}`}`;
