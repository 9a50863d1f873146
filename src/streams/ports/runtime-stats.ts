import type {
  ListContainerStatsRequest,
  ListContainerStatsResponse,
  ListMetricDescriptorsResponse,
  ListPodSandboxMetricsResponse,
  ListPodSandboxStatsRequest,
  ListPodSandboxStatsResponse,
} from '../../generated/runtime/v1/api.js';
import type { CriCall } from './runtime-service.js';

/** The statistics calls of `runtime.v1.RuntimeService`. Errors: also `unimplemented`, since a runtime need not have them. */
export interface RuntimeStats {
  readonly listPodSandboxStats: CriCall<ListPodSandboxStatsRequest, ListPodSandboxStatsResponse>;
  readonly listContainerStats: CriCall<ListContainerStatsRequest, ListContainerStatsResponse>;
  readonly listMetricDescriptors: CriCall<object, ListMetricDescriptorsResponse>;
  readonly listPodSandboxMetrics: CriCall<object, ListPodSandboxMetricsResponse>;
}
