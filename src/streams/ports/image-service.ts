import type {
  ImageFsInfoResponse,
  ImageStatusRequest,
  ImageStatusResponse,
  ListImagesRequest,
  ListImagesResponse,
  PullImageRequest,
  PullImageResponse,
  RemoveImageRequest,
} from '../../generated/runtime/v1/api.js';
import type { CriCall } from './runtime-service.js';

/** The calls of `runtime.v1.ImageService` that the agent uses. */
export interface ImageService {
  readonly listImages: CriCall<ListImagesRequest, ListImagesResponse>;
  readonly imageStatus: CriCall<ImageStatusRequest, ImageStatusResponse>;
  readonly pullImage: CriCall<PullImageRequest, PullImageResponse>;
  readonly removeImage: CriCall<RemoveImageRequest, object>;
  readonly imageFsInfo: CriCall<object, ImageFsInfoResponse>;
}
