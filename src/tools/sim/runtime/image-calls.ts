import { CriError } from '../../../model/cri/cri-error.js';
import type { ImageService } from '../../../streams/ports/image-service.js';
import type { PullBehaviour } from '../world/behaviour.js';
import type { RuntimeParts } from './runtime-parts.js';

/** The mount point of images and containers on the simulated disk. */
const IMAGE_MOUNTPOINT = '/var/lib/containerd';
const PULL_MS = 1000;

/** The image service of the simulated runtime. */
export const imageCalls = ({ world, transport, images }: RuntimeParts): ImageService => {
  const { scheduler, tell, clock, daemon } = world;
  /** The pulls that came to their end, by the name of the image. */
  const pulled = new Map<string, number>();

  /** The behaviour of the next pull of the image. */
  const nextPull = (name: string): PullBehaviour => {
    const { pulls, pullMs = PULL_MS, pullError } = images.behaviourOf(name);
    const before = pulled.get(name) ?? 0;
    const listed = pulls?.[before] ?? pulls?.at(-1);
    if (listed) return listed;
    const fails = pullError !== undefined && before < (pullError.times ?? Infinity);
    return { takesMs: pullMs, ...(fails && { error: pullError.message }) };
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
      const { takesMs, error } = nextPull(name);
      daemon().schedule(() => {
        pulled.set(name, (pulled.get(name) ?? 0) + 1);
        if (error !== undefined) return answer.error(new CriError('unknown', 'PullImage', error));
        const found = images.find(name);
        const { id } = found ?? images.add(name);
        tell({ kind: 'image-pulled', at: scheduler.now(), image: name, ...(found && { wasThere: true }) });
        answer.value({ imageRef: id });
      }, takesMs);
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
