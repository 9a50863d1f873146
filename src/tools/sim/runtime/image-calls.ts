import { CriError } from '../../../model/cri/cri-error.js';
import type { ImageService } from '../../../streams/ports/image-service.js';
import type { RuntimeParts } from './runtime-parts.js';

/** The mount point of images and containers on the simulated disk. */
const IMAGE_MOUNTPOINT = '/var/lib/containerd';
const PULL_MS = 1000;

/** The image service of the simulated runtime. */
export const imageCalls = ({ world, transport, images }: RuntimeParts): ImageService => {
  const { scheduler, tell, clock, daemon } = world;
  const failures = new Map<string, number>();

  /** Counts the pulls; returns the reason why this pull of the image fails. */
  const pullProblem = (name: string): string | undefined => {
    const { pullError } = images.behaviourOf(name);
    if (!pullError) return undefined;
    const before = failures.get(name) ?? 0;
    if (before >= (pullError.times ?? Infinity)) return undefined;
    failures.set(name, before + 1);
    return pullError.message;
  };

  return {
    listImages: transport.sync('ListImages', ({ filter }) => {
      const wanted = filter?.image?.image;
      const found = wanted ? images.find(wanted) : undefined;
      return { images: wanted ? (found ? [found] : []) : [...images.all()] };
    }),
    imageStatus: transport.sync('ImageStatus', ({ image }) => ({ image: images.find(image?.image ?? ''), info: {} })),
    pullImage: transport.unary('PullImage', ({ image }, answer) => {
      const name = image?.image ?? '';
      daemon().schedule(
        () => {
          const problem = pullProblem(name);
          if (problem !== undefined) return answer.error(new CriError('unknown', 'PullImage', problem));
          const found = images.find(name);
          const { id } = found ?? images.add(name);
          tell({ kind: 'image-pulled', at: scheduler.now(), image: name, ...(found && { wasThere: true }) });
          answer.value({ imageRef: id });
        },
        images.behaviourOf(name).pullMs ?? PULL_MS,
      );
    }),
    removeImage: transport.sync('RemoveImage', ({ image }) => {
      const found = images.find(image?.image ?? '');
      if (found) tell({ kind: 'image-removed', at: scheduler.now(), names: images.remove(found) });
      return {};
    }),
    imageFsInfo: transport.sync('ImageFsInfo', () => {
      const filesystem = {
        timestamp: BigInt(clock.now()) * 1_000_000n,
        fsId: { mountpoint: IMAGE_MOUNTPOINT },
        usedBytes: { value: images.used() },
        inodesUsed: { value: 1n },
      };
      return { imageFilesystems: [filesystem], containerFilesystems: [filesystem] };
    }),
  };
};
