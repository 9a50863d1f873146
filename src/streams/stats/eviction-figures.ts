import { concatMap, forkJoin, map } from 'rxjs';
import { observationsOf, podFiguresOf } from '../../model/eviction/figures.js';
import type { EvictionFigures } from '../ports/eviction-figures.js';
import type { ImageService } from '../ports/image-service.js';
import type { PartialStats } from '../ports/node-stats.js';
import type { UsageReader } from '../ports/usage-reader.js';
import { nodeStats, type NodeStatsOptions } from './node-stats.js';

/** The space of volumes by which pods are evicted is no older than this, in milliseconds. */
export const FRESH_VOLUMES_MS = 15_000;
/** The longest time for a walk of volumes after the check that it was begun for, in milliseconds. */
export const VOLUME_WALK_MS = 60_000;

export interface EvictionFiguresOptions extends Omit<NodeStatsOptions, 'pods' | 'volumesKeptMs' | 'volumeWalkMs'> {
  readonly images: Pick<ImageService, 'imageFsInfo'>;
}

/** Measures a node for eviction by samples of its own, apart from those of clients. */
export const evictionFigures = (options: EvictionFiguresOptions): EvictionFigures =>
  figuresFrom(
    nodeStats({ ...options, pods: () => [], volumesKeptMs: FRESH_VOLUMES_MS, volumeWalkMs: VOLUME_WALK_MS }),
    options,
  );

/** The figures from samples of the node. */
export const figuresFrom = (
  stats: PartialStats,
  {
    images,
    reader,
    rootDirectory,
  }: Pick<EvictionFiguresOptions, 'images' | 'rootDirectory'> & { readonly reader: Pick<UsageReader, 'device'> },
): EvictionFigures => ({
  node: () => stats.node$.pipe(map(observationsOf)),
  pods: (pods) =>
    stats.summaryOf(pods).pipe(
      map((sample) => {
        if (sample.failure !== undefined) throw new Error(sample.failure);
        return podFiguresOf(sample);
      }),
    ),
  devices: () =>
    images.imageFsInfo({}).pipe(
      concatMap(({ imageFilesystems, containerFilesystems }) => {
        const ofImages = imageFilesystems[0]?.fsId?.mountpoint;
        if (!ofImages) throw new Error('the runtime does not say where its images are');
        const ofContainers = containerFilesystems[0]?.fsId?.mountpoint || ofImages;
        return forkJoin({
          node: reader.device(rootDirectory),
          images: reader.device(ofImages),
          containers: reader.device(ofContainers),
        });
      }),
    ),
});
