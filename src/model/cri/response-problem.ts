import type {
  ContainerStatusResponse,
  CreateContainerResponse,
  ImageStatusResponse,
  ListImagesResponse,
  PodSandboxStatusResponse,
  PullImageResponse,
  RunPodSandboxResponse,
  StatusResponse,
  VersionResponse,
} from '../../generated/runtime/v1/api.js';

/**
 * Returns the problem of an unusable reply of the runtime: the first required field that is missing. Undefined for a
 * usable reply.
 * Source: cri-client/pkg/remote_runtime.go, remote_image.go, utils.go.
 */
export type ResponseProblem<Response> = (response: Response) => string | undefined;

/** Returns the name of the first of these fields that is missing. */
const missing = (what: string, fields: Readonly<Record<string, unknown>>): string | undefined => {
  const name = Object.keys(fields).find((field) => !fields[field]);
  return name === undefined ? undefined : `the runtime's ${what} has no ${name}`;
};

export const versionProblem: ResponseProblem<VersionResponse> = (response) =>
  missing('version', {
    version: response.version,
    runtime_name: response.runtimeName,
    runtime_version: response.runtimeVersion,
    runtime_api_version: response.runtimeApiVersion,
  });

export const statusProblem: ResponseProblem<StatusResponse> = ({ status }) => {
  const conditions = status?.conditions ?? [];
  const has = (wanted: string): boolean => conditions.some(({ type }) => type === wanted);
  return missing('status', {
    'condition RuntimeReady': has('RuntimeReady'),
    'condition NetworkReady': has('NetworkReady'),
  });
};

export const runPodSandboxProblem: ResponseProblem<RunPodSandboxResponse> = ({ podSandboxId }) =>
  missing('new sandbox', { pod_sandbox_id: podSandboxId });

export const createContainerProblem: ResponseProblem<CreateContainerResponse> = ({ containerId }) =>
  missing('new container', { container_id: containerId });

export const podSandboxStatusProblem: ResponseProblem<PodSandboxStatusResponse> = ({ status }) =>
  missing('sandbox status', {
    status,
    id: status?.id,
    metadata: status?.metadata,
    'metadata.name': status?.metadata?.name,
    'metadata.namespace': status?.metadata?.namespace,
    'metadata.uid': status?.metadata?.uid,
    created_at: status?.createdAt,
  });

export const containerStatusProblem: ResponseProblem<ContainerStatusResponse> = ({ status }) =>
  missing('container status', {
    status,
    id: status?.id,
    metadata: status?.metadata,
    'metadata.name': status?.metadata?.name,
    created_at: status?.createdAt,
    'image.image': status?.image?.image,
    image_ref: status?.imageRef,
  });

/** The problem of the reply for a stream: exec, attach or port-forward. The text is that of the kubelet. */
export const streamUrlProblem: ResponseProblem<{ readonly url: string }> = ({ url }) =>
  url === '' ? 'URL is not set' : undefined;

/** An absent image is a valid reply: the runtime does not have the image. */
export const imageStatusProblem: ResponseProblem<ImageStatusResponse> = ({ image }) =>
  image && missing('image', { id: image.id, size: image.size });

export const listImagesProblem: ResponseProblem<ListImagesResponse> = ({ images }) => {
  for (const { id, size } of images) {
    const problem = missing('image list', { id, size });
    if (problem !== undefined) return problem;
  }
  return undefined;
};

export const pullImageProblem: ResponseProblem<PullImageResponse> = ({ imageRef }) =>
  missing('pulled image', { image_ref: imageRef });
