import { catchError, concatMap, forkJoin, from, map, mergeMap, type Observable, of, toArray } from 'rxjs';
import type { FilesystemUsage } from '../../generated/runtime/v1/api.js';
import { containerLogDirectory } from '../../model/cri/log-paths.js';
import type { Pod } from '../../model/pod/pod.js';
import { podHostsFile } from '../../model/pod/pod-paths.js';
import { type ImageFileSystems, mountPointsOf, nodeDisksOf } from '../../model/stats/disk-of.js';
import { type LogSize, runningContainers } from '../../model/stats/log-size.js';
import type { DiskFigures, FileSystemFigures } from '../../model/stats/node-sample.js';
import type { NodeDisks } from '../../model/stats/readings.js';
import type { SampledPod } from '../../model/stats/sampled-pods.js';
import { toMap } from '../operators/to-map.js';
import type { ImageService } from '../ports/image-service.js';
import type { UsageReader } from '../ports/usage-reader.js';

export interface DiskUsageOptions {
  readonly rootDirectory: string;
  readonly podLogsDirectory: string;
  readonly reader: Pick<UsageReader, 'directory' | 'fileSystem'>;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * Emits once the file systems of the node, and of images and containers as the runtime names them. Errors: none.
 *
 * Source: pkg/kubelet/stats/cri_stats_provider.go ImageFsStats, provider.go RootFsStats
 */
export const nodeDisks = (
  { rootDirectory, reader, now }: DiskUsageOptions,
  images: Pick<ImageService, 'imageFsInfo'> | undefined,
  layers: readonly FilesystemUsage[],
): Observable<NodeDisks> => {
  const info$: Observable<ImageFileSystems> = images
    ? images.imageFsInfo({}).pipe(
        map(({ imageFilesystems, containerFilesystems }) => ({
          image: imageFilesystems[0],
          container: containerFilesystems[0] ?? imageFilesystems[0],
          problems: [],
        })),
        catchError((error: unknown) =>
          of({ image: undefined, container: undefined, problems: [`file system of images: ${String(error)}`] }),
        ),
      )
    : of({ image: undefined, container: undefined, problems: [] });
  const spaceOf = (path: string): Observable<FileSystemFigures | undefined> =>
    reader.fileSystem(path).pipe(catchError(() => of(undefined)));
  return info$.pipe(
    concatMap((info) => {
      const spaces$ = from(mountPointsOf([info.image, info.container, ...layers])).pipe(
        concatMap((path) => spaceOf(path).pipe(map((space) => [path, space] as const))),
        toMap(),
      );
      return forkJoin([spaceOf(rootDirectory), spaces$]).pipe(
        map(([root, spaces]) => nodeDisksOf(info, root, spaces, now())),
      );
    }),
  );
};

type SpaceByKey = ReadonlyMap<string, Omit<DiskFigures, 'fileSystem'>>;

/** Directories that are read at a time. */
const READS = 4;

/** Emits once the space of the logs of running containers, by container ID. A container without logs is left out. Errors: none. */
export const logUsage = (
  { podLogsDirectory, reader }: DiskUsageOptions,
  pods: readonly SampledPod[],
): Observable<SpaceByKey> =>
  spaceByKey(
    reader,
    pods.flatMap(({ pod, containers }) =>
      containers.map(
        ({ id, metadata }) => [id, containerLogDirectory(podLogsDirectory, pod, metadata?.name ?? '')] as const,
      ),
    ),
  );

/**
 * Emits once the sizes of the logs of the containers that run, by the statuses of their pods: without the runtime, which may not answer when
 * these metrics are needed. A container without logs is left out. Errors: none.
 */
export const logSizes = (
  { podLogsDirectory, reader }: Pick<DiskUsageOptions, 'podLogsDirectory' | 'reader'>,
  pods: readonly Pod[],
): Observable<readonly LogSize[]> =>
  from(runningContainers(pods)).pipe(
    mergeMap(
      (running) =>
        reader.directory(containerLogDirectory(podLogsDirectory, running.pod, running.container)).pipe(
          map(({ usedBytes }): LogSize => ({ ...running, usedBytes })),
          catchError(() => []),
        ),
      READS,
    ),
    toArray(),
  );

/**
 * Emits once the space of the hosts files of pods, by UID. A pod without one is left out. Errors: none.
 *
 * Source: pkg/kubelet/stats/host_stats_provider.go getPodEtcHostsStats
 */
export const hostsUsage = (
  { rootDirectory, reader }: DiskUsageOptions,
  pods: readonly SampledPod[],
): Observable<SpaceByKey> =>
  spaceByKey(
    reader,
    pods.map(({ pod: { metadata } }) => [metadata.uid, podHostsFile(rootDirectory, metadata.uid)] as const),
  );

const spaceByKey = (
  reader: DiskUsageOptions['reader'],
  paths: readonly (readonly [key: string, path: string])[],
): Observable<SpaceByKey> =>
  from(paths).pipe(
    mergeMap(
      ([key, path]) =>
        reader.directory(path).pipe(
          map((usage) => [key, usage] as const),
          catchError(() => []),
        ),
      READS,
    ),
    toMap(),
  );
