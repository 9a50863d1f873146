import { concatMap, forkJoin, map } from 'rxjs';
import { observationsOf, podFiguresOf } from '../../model/eviction/figures.js';
import type { EvictionFigures } from '../ports/eviction-figures.js';
import type { ImageService } from '../ports/image-service.js';
import type { PartialStats } from '../ports/node-stats.js';
import type { UsageReader } from '../ports/usage-reader.js';

export interface EvictionFiguresOptions {
  readonly stats: PartialStats;
  readonly images: Pick<ImageService, 'imageFsInfo'>;
  readonly reader: Pick<UsageReader, 'device'>;
  readonly rootDirectory: string;
}

/** The figures for eviction from samples of the node. */
export const evictionFigures = ({ stats, images, reader, rootDirectory }: EvictionFiguresOptions): EvictionFigures => ({
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
