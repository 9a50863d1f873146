import { Client, credentials } from '@grpc/grpc-js';
import {
  AttachRequest,
  CheckpointContainerRequest,
  ContainerStatsRequest,
  ContainerStatusRequest,
  CreateContainerRequest,
  ExecRequest,
  ExecSyncRequest,
  ImageFsInfoRequest,
  ImageServiceService,
  ImageStatusRequest,
  ListContainersRequest,
  ListContainerStatsRequest,
  ListMetricDescriptorsRequest,
  ListPodSandboxMetricsRequest,
  ListImagesRequest,
  ListPodSandboxRequest,
  ListPodSandboxStatsRequest,
  PodSandboxStatusRequest,
  PortForwardRequest,
  PullImageRequest,
  RemoveContainerRequest,
  RemoveImageRequest,
  RemovePodSandboxRequest,
  ReopenContainerLogRequest,
  RunPodSandboxRequest,
  RuntimeConfigRequest,
  RuntimeServiceService,
  StartContainerRequest,
  StatusRequest,
  StopContainerRequest,
  StopPodSandboxRequest,
  StreamContainersRequest,
  StreamPodSandboxesRequest,
  UpdateContainerResourcesRequest,
  UpdatePodSandboxResourcesRequest,
  UpdateRuntimeConfigRequest,
  VersionRequest,
} from '../generated/runtime/v1/api.js';
import {
  containerStatusProblem,
  createContainerProblem,
  imageStatusProblem,
  listImagesProblem,
  podSandboxStatusProblem,
  pullImageProblem,
  runPodSandboxProblem,
  statusProblem,
  streamUrlProblem,
  versionProblem,
} from '../model/cri/response-problem.js';
import type { CriError } from '../model/cri/cri-error.js';
import type { ImageService } from '../streams/ports/image-service.js';
import type { RuntimeService } from '../streams/ports/runtime-service.js';
import type { RuntimeStats } from '../streams/ports/runtime-stats.js';
import type { StreamingService } from '../streams/ports/streaming-service.js';
import { type Connection, containerEvents, orElse, repliesInTurns, streamedList, unary } from './cri-calls.js';
import { parseCriEndpoint } from './cri-endpoint.js';

export interface CriClientOptions {
  /** The socket of the runtime, `unix:///path`. */
  readonly endpoint: string;
  /** The socket of the image service; the same as `endpoint` unless given. */
  readonly imageEndpoint?: string;
  /** The deadline of a call; some calls have a longer one, see `callDeadlineMs`. */
  readonly requestTimeoutMs?: number;
  /**
   * Receives every call that ended. `operation` is the value of the label `operation_type` in the kubelet's metrics; a
   * call that the agent cancelled ends with `cancelled`.
   */
  readonly observe?: (operation: string, durationMs: number, error?: CriError) => void;
}

export interface CriClient {
  readonly runtime: RuntimeService;
  readonly images: ImageService;
  readonly stats: RuntimeStats;
  readonly streaming: StreamingService;
  /** Closes the connections; running calls fail with `cancelled`. */
  readonly close: () => void;
}

/** Large nodes list more than 4 MiB, the default limit of gRPC. */
const MAX_MESSAGE_BYTES = 16 * 1024 * 1024;

/** Source: cri-client/pkg/remote_runtime.go, utils.go. */
const CHANNEL_OPTIONS = {
  'grpc.max_receive_message_length': MAX_MESSAGE_BYTES,
  'grpc.max_send_message_length': MAX_MESSAGE_BYTES,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 3_000,
  'grpc.default_authority': 'localhost',
  'grpc.use_local_subchannel_pool': 1,
  'grpc.enable_http_proxy': 0,
  // Channelz would count every call, and the agent does not serve these counts.
  'grpc.enable_channelz': 0,
};

/** The version that the kubelet sends; runtimes check it. */
const KUBE_API_VERSION = '0.1.0';

/**
 * The CRI of a real runtime, over gRPC on a unix socket. It connects at the first call. It reconnects within 3 s after
 * a lost connection, and until then calls fail at once as `unavailable`.
 *
 * Errors: throws for an endpoint that is not a unix socket.
 */
export const criClient = ({
  endpoint,
  imageEndpoint = endpoint,
  requestTimeoutMs = 120_000,
  observe = () => undefined,
}: CriClientOptions): CriClient => {
  const runtimeAddress = parseCriEndpoint(endpoint);
  const imageAddress = parseCriEndpoint(imageEndpoint, 'imageServiceEndpoint');
  const inTurn = repliesInTurns();
  const connect = (address: string): Connection => ({
    client: new Client(address, credentials.createInsecure(), CHANNEL_OPTIONS),
    endpoint: address,
    requestTimeoutMs,
    observe,
    inTurn,
  });
  const runtime = connect(runtimeAddress);
  const images = imageAddress === runtimeAddress ? runtime : connect(imageAddress);
  return {
    runtime: runtimeService(runtime),
    images: imageService(images),
    stats: runtimeStats(runtime),
    streaming: streamingService(runtime),
    close: () => {
      runtime.client.close();
      if (images !== runtime) images.client.close();
    },
  };
};

const runtimeService = (to: Connection): RuntimeService => {
  const cri = RuntimeServiceService;
  const version = unary(to, 'version', cri.version, VersionRequest, versionProblem);
  return {
    version: () => version({ version: KUBE_API_VERSION }),
    status: unary(to, 'status', cri.status, StatusRequest, statusProblem),
    runtimeConfig: unary(to, 'runtime_config', cri.runtimeConfig, RuntimeConfigRequest),
    updateRuntimeConfig: unary(to, 'update_runtime_config', cri.updateRuntimeConfig, UpdateRuntimeConfigRequest),
    runPodSandbox: unary(to, 'run_podsandbox', cri.runPodSandbox, RunPodSandboxRequest, runPodSandboxProblem),
    stopPodSandbox: unary(to, 'stop_podsandbox', cri.stopPodSandbox, StopPodSandboxRequest),
    updatePodSandboxResources: unary(
      to,
      'update_podsandbox_resources',
      cri.updatePodSandboxResources,
      UpdatePodSandboxResourcesRequest,
    ),
    removePodSandbox: unary(to, 'remove_podsandbox', cri.removePodSandbox, RemovePodSandboxRequest),
    podSandboxStatus: unary(
      to,
      'podsandbox_status',
      cri.podSandboxStatus,
      PodSandboxStatusRequest,
      podSandboxStatusProblem,
    ),
    listPodSandbox: orElse(
      streamedList(to, 'list_podsandbox', cri.streamPodSandboxes, StreamPodSandboxesRequest, (parts) => ({
        items: parts.flatMap(({ podSandboxes }) => podSandboxes),
      })),
      unary(to, 'list_podsandbox', cri.listPodSandbox, ListPodSandboxRequest),
    ),
    createContainer: unary(to, 'create_container', cri.createContainer, CreateContainerRequest, createContainerProblem),
    startContainer: unary(to, 'start_container', cri.startContainer, StartContainerRequest),
    stopContainer: unary(to, 'stop_container', cri.stopContainer, StopContainerRequest),
    removeContainer: unary(to, 'remove_container', cri.removeContainer, RemoveContainerRequest),
    listContainers: orElse(
      streamedList(to, 'list_containers', cri.streamContainers, StreamContainersRequest, (parts) => ({
        containers: parts.flatMap(({ containers }) => containers),
      })),
      unary(to, 'list_containers', cri.listContainers, ListContainersRequest),
    ),
    containerStatus: unary(to, 'container_status', cri.containerStatus, ContainerStatusRequest, containerStatusProblem),
    containerStats: unary(to, 'container_stats', cri.containerStats, ContainerStatsRequest),
    updateContainerResources: unary(
      to,
      'update_container',
      cri.updateContainerResources,
      UpdateContainerResourcesRequest,
    ),
    reopenContainerLog: unary(to, 'reopen_container_log', cri.reopenContainerLog, ReopenContainerLogRequest),
    execSync: unary(to, 'exec_sync', cri.execSync, ExecSyncRequest),
    checkpointContainer: unary(to, 'checkpoint_container', cri.checkpointContainer, CheckpointContainerRequest),
    containerEvents: () => containerEvents(to),
  };
};

const runtimeStats = (to: Connection): RuntimeStats => {
  const cri = RuntimeServiceService;
  return {
    listPodSandboxStats: unary(to, 'list_podsandbox_stats', cri.listPodSandboxStats, ListPodSandboxStatsRequest),
    listContainerStats: unary(to, 'list_container_stats', cri.listContainerStats, ListContainerStatsRequest),
    listMetricDescriptors: unary(
      to,
      'list_metric_descriptors',
      cri.listMetricDescriptors,
      ListMetricDescriptorsRequest,
    ),
    listPodSandboxMetrics: unary(
      to,
      'list_pod_sandbox_metrics',
      cri.listPodSandboxMetrics,
      ListPodSandboxMetricsRequest,
    ),
  };
};

const imageService = (to: Connection): ImageService => {
  const cri = ImageServiceService;
  return {
    listImages: unary(to, 'list_images', cri.listImages, ListImagesRequest, listImagesProblem),
    imageStatus: unary(to, 'image_status', cri.imageStatus, ImageStatusRequest, imageStatusProblem),
    pullImage: unary(to, 'pull_image', cri.pullImage, PullImageRequest, pullImageProblem),
    removeImage: unary(to, 'remove_image', cri.removeImage, RemoveImageRequest),
    imageFsInfo: unary(to, 'image_fs_info', cri.imageFsInfo, ImageFsInfoRequest),
  };
};

const streamingService = (to: Connection): StreamingService => {
  const cri = RuntimeServiceService;
  return {
    exec: unary(to, 'exec', cri.exec, ExecRequest, streamUrlProblem),
    attach: unary(to, 'attach', cri.attach, AttachRequest, streamUrlProblem),
    portForward: unary(to, 'port_forward', cri.portForward, PortForwardRequest, streamUrlProblem),
  };
};
