import type {
  CheckpointContainerRequest,
  ContainerEventResponse,
  ContainerStatsRequest,
  ContainerStatsResponse,
  ContainerStatusRequest,
  ContainerStatusResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  DeepPartial,
  ExecSyncRequest,
  ExecSyncResponse,
  ListContainersRequest,
  ListContainersResponse,
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
  RemoveContainerRequest,
  RemovePodSandboxRequest,
  ReopenContainerLogRequest,
  RunPodSandboxRequest,
  RunPodSandboxResponse,
  RuntimeConfigResponse,
  StartContainerRequest,
  StatusResponse,
  StopContainerRequest,
  StopPodSandboxRequest,
  UpdateContainerResourcesRequest,
  UpdatePodSandboxResourcesRequest,
  UpdateRuntimeConfigRequest,
  VersionResponse,
} from '../../generated/runtime/v1/api.js';
import type { Observable } from 'rxjs';

/**
 * A unary CRI call. It starts on subscribe, emits one response and completes; unsubscribing cancels it. Missing fields take their
 * protobuf default. Errors: a `CriError` (src/model/cri/cri-error.ts).
 */
export type CriCall<Request, Response> = (request: DeepPartial<Request>) => Observable<Response>;

/** The calls of `runtime.v1.RuntimeService` that the agent uses. */
export interface RuntimeService {
  readonly version: CriCall<object, VersionResponse>;
  readonly status: CriCall<object, StatusResponse>;
  readonly runtimeConfig: CriCall<object, RuntimeConfigResponse>;
  readonly updateRuntimeConfig: CriCall<UpdateRuntimeConfigRequest, object>;
  readonly runPodSandbox: CriCall<RunPodSandboxRequest, RunPodSandboxResponse>;
  readonly stopPodSandbox: CriCall<StopPodSandboxRequest, object>;
  readonly removePodSandbox: CriCall<RemovePodSandboxRequest, object>;
  readonly podSandboxStatus: CriCall<PodSandboxStatusRequest, PodSandboxStatusResponse>;
  readonly listPodSandbox: CriCall<ListPodSandboxRequest, ListPodSandboxResponse>;
  readonly updatePodSandboxResources: CriCall<UpdatePodSandboxResourcesRequest, object>;
  readonly createContainer: CriCall<CreateContainerRequest, CreateContainerResponse>;
  readonly startContainer: CriCall<StartContainerRequest, object>;
  readonly stopContainer: CriCall<StopContainerRequest, object>;
  readonly removeContainer: CriCall<RemoveContainerRequest, object>;
  readonly listContainers: CriCall<ListContainersRequest, ListContainersResponse>;
  readonly containerStatus: CriCall<ContainerStatusRequest, ContainerStatusResponse>;
  readonly containerStats: CriCall<ContainerStatsRequest, ContainerStatsResponse>;
  readonly updateContainerResources: CriCall<UpdateContainerResourcesRequest, object>;
  readonly reopenContainerLog: CriCall<ReopenContainerLogRequest, object>;
  readonly execSync: CriCall<ExecSyncRequest, ExecSyncResponse>;
  readonly checkpointContainer: CriCall<CheckpointContainerRequest, object>;
  /** Emits while the stream lives. Errors: it breaks, or the runtime does not implement it (`unimplemented`). */
  readonly containerEvents: () => Observable<ContainerEventResponse>;
}
