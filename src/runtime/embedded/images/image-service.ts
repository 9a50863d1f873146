import type { ImageServiceServer } from '../../../generated/runtime/v1/api.js';
import type { Logger } from '../../../streams/ports/logger.js';
import { unary, unsupportedStream, type Answer } from '../grpc-adapter.js';
import { HOST_IMAGE_ID, hostImage, imageFsInfo, isHostImage, refuseRemoval, requireHostImage } from './images.js';

/** `runtime.v1.ImageService` with one image, `host`. */
export const imageService = (stateDirectory: string, log: Logger): ImageServiceServer => {
  const uid = process.geteuid?.() ?? 0;
  const serve = <Request, Response>(name: string, answer: Answer<Request, Response>) => unary(name, log, answer);
  return {
    listImages: serve('ListImages', async ({ filter }) => {
      const wanted = filter?.image?.image ?? '';
      return { images: wanted === '' || isHostImage(wanted) ? [await hostImage(uid)] : [] };
    }),
    streamImages: unsupportedStream('StreamImages', 'use ListImages'),
    imageStatus: serve('ImageStatus', async ({ image }) => ({
      image: isHostImage(image?.image ?? '') ? await hostImage(uid) : undefined,
      info: {},
    })),
    pullImage: serve('PullImage', ({ image }) => {
      requireHostImage(image);
      return { imageRef: HOST_IMAGE_ID };
    }),
    removeImage: serve('RemoveImage', ({ image }) => {
      refuseRemoval(image);
      return {};
    }),
    imageFsInfo: serve('ImageFsInfo', () => imageFsInfo(stateDirectory)),
  };
};
