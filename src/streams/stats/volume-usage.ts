import {
  catchError,
  concatMap,
  defer,
  from,
  map,
  mergeMap,
  type Observable,
  of,
  ReplaySubject,
  type SchedulerLike,
  share,
  takeUntil,
  timer,
  toArray,
} from 'rxjs';
import { type Pod, uidsOf } from '../../model/pod/pod.js';
import { NO_SPACE } from '../../model/stats/assemble-sample.js';
import { sampledVolumes } from '../../model/stats/sampled-volumes.js';
import type { VolumeSample } from '../../model/stats/node-sample.js';
import { toMap } from '../operators/to-map.js';
import type { UsageReader } from '../ports/usage-reader.js';

export interface VolumeUsageOptions {
  readonly rootDirectory: string;
  readonly reader: Pick<UsageReader, 'directory' | 'fileSystem'>;
  /** The time for which the space of volumes is kept, in milliseconds; negative: volumes are not read. See `volumeStatsAggPeriod`. */
  readonly keptMs: number;
  /** The longest time for a walk after the reply that it was begun for, in milliseconds. Default: `keptMs`. */
  readonly walkMs?: number;
  readonly scheduler: SchedulerLike;
}

/** The time that a reply waits for the space of volumes, in milliseconds. A walk goes on, for a later reply. */
export const VOLUME_WAIT_MS = 1_000;
/** Pods whose volumes are walked at a time. */
const WALKS = 2;

/**
 * Makes a function that emits once the volumes of the pods, by UID. The volumes of a pod are walked when they are asked for, at most
 * once in `keptMs`; a walk is not cancelled by the end of its reply, but `walkMs` after it. Volumes whose walk takes longer than
 * the reply waits, and those that cannot be read, are left out.
 *
 * Errors: none.
 * Source: pkg/kubelet/server/stats/volume_stat_calculator.go
 */
export const volumeUsage = ({ rootDirectory, reader, keptMs, walkMs = keptMs, scheduler }: VolumeUsageOptions) => {
  const kept = new Map<string, Observable<readonly VolumeSample[]>>();

  const walk = (pod: Pod): Observable<readonly VolumeSample[]> =>
    from(sampledVolumes(rootDirectory, pod)).pipe(
      concatMap(({ path, ...volume }) =>
        reader.directory(path).pipe(
          concatMap(({ timeMs, usedBytes, inodesUsed }) =>
            reader
              .fileSystem(path)
              .pipe(map((fileSystem) => ({ ...volume, disk: { timeMs, fileSystem, usedBytes, inodesUsed } }))),
          ),
          // Not set up yet, or taken down.
          catchError(() => []),
        ),
      ),
      toArray(),
    );

  const volumesOf = (pod: Pod): Observable<readonly VolumeSample[]> => {
    const { uid } = pod.metadata;
    const shared$ =
      kept.get(uid) ??
      walk(pod).pipe(
        share({
          connector: () => new ReplaySubject(1),
          resetOnComplete: () => timer(keptMs, scheduler),
          resetOnRefCountZero: () => timer(walkMs, scheduler),
        }),
      );
    kept.set(uid, shared$);
    return shared$;
  };

  return (pods: readonly Pod[]): Observable<ReadonlyMap<string, readonly VolumeSample[]>> =>
    defer(() => {
      if (keptMs < 0) return of(NO_SPACE.volumes);
      const uids = uidsOf(pods);
      for (const uid of kept.keys()) if (!uids.has(uid)) kept.delete(uid);
      const inTime$ = from(pods).pipe(
        mergeMap((pod) => volumesOf(pod).pipe(map((volumes) => [pod.metadata.uid, volumes] as const)), WALKS),
        takeUntil(timer(VOLUME_WAIT_MS, scheduler)),
      );
      return inTime$.pipe(
        toMap(),
        catchError(() => of(NO_SPACE.volumes)),
      );
    });
};
