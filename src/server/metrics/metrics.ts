import { Counter, Gauge, Histogram, Registry } from 'prom-client';
import { goArchitecture } from '../../model/node/go-architecture.js';
import type { WorkingPods } from '../../model/pod-workers/housekeeping.js';
import type { Metrics } from '../../streams/ports/metrics.js';
import { admissionMetrics } from './admission-metrics.js';
import { apiMetrics } from './api-metrics.js';
import { nodeMetrics } from './node-metrics.js';
import { certificateMetrics } from './certificate-metrics.js';
import { registerEventLoopDelay } from './event-loop-metrics.js';
import { eventMetrics } from './event-metrics.js';
import { imageMetrics } from './image-metrics.js';
import { podStatusMetrics } from './pod-status-metrics.js';
import { registerProcess, registerStartTime } from './process-metrics.js';
import { type CountRequests, requestMetrics, conversionMetric } from './request-metrics.js';
import { evictionMetrics } from './eviction-metrics.js';
import { resizeMetrics } from './resize-metrics.js';
import { shutdownMetrics } from './shutdown-metrics.js';
import { volumeMetrics } from './volume-metrics.js';
import { probeMetrics } from './probe-metrics.js';

const DEFAULT_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
const POD_START_BUCKETS = [
  0.5, 1, 2, 3, 4, 5, 6, 8, 10, 20, 30, 45, 60, 120, 180, 240, 300, 360, 480, 600, 900, 1200, 1800, 2700, 3600,
];
const RUNTIME_BUCKETS = Array.from({ length: 14 }, (_, step) => 0.005 * 2.5 ** step);

/** The states of pods in the metric of working pods. Source: HandlePodCleanups in pkg/kubelet/kubelet_pods.go. */
const WORKING_STATES: readonly Omit<WorkingPods, 'count'>[] = (['sync', 'terminating', 'terminated'] as const).flatMap(
  (lifecycle) => [
    ...(['desired', 'orphan'] as const).flatMap((config) => [
      { lifecycle, config, static: 'true' as const },
      { lifecycle, config, static: '' as const },
    ]),
    { lifecycle, config: 'runtime_only' as const, static: 'unknown' as const },
  ],
);

export interface MetricsOptions {
  readonly nodeName: string;
  /** The version of the agent, such as `0.1.0`. */
  readonly version: string;
}

export interface MeteredRegistry {
  readonly registry: Registry;
  /** A registry for probes alone, so that a scrape of the other metrics stays small. */
  readonly probeRegistry: Registry;
  readonly metrics: Metrics;
  /** Counts the requests to the ports of the kubelet API. */
  readonly countRequests: CountRequests;
  /** Counts a stream over a WebSocket that is converted to SPDY, such as `exec`. */
  readonly countConversion: (subresource: string) => void;
}

/**
 * A registry with the kubelet's metric names, labels and buckets, and the port through which the loop fills it. Metrics
 * without labels are visible from the start; those with labels appear with their first value.
 *
 * Source: pkg/kubelet/metrics/metrics.go.
 */
export function createMetrics({ nodeName, version }: MetricsOptions): MeteredRegistry {
  const registry = new Registry();
  const registers = [registry];
  const counter = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Counter<Label>({ name, help, labelNames, registers });
  const gauge = <Label extends string>(name: string, help: string, ...labelNames: Label[]) =>
    new Gauge<Label>({ name, help, labelNames, registers });
  const histogram = <Label extends string>(name: string, help: string, buckets: number[], ...labelNames: Label[]) =>
    new Histogram<Label>({ name, help, buckets, labelNames, registers });

  const operations = counter('kubelet_runtime_operations_total', 'CRI calls.', 'operation_type');
  const operationErrors = counter(
    'kubelet_runtime_operations_errors_total',
    'CRI calls that failed.',
    'operation_type',
  );
  const operationSeconds = histogram(
    'kubelet_runtime_operations_duration_seconds',
    'Seconds that CRI calls took, failed ones included.',
    RUNTIME_BUCKETS,
    'operation_type',
  );
  const sandboxSeconds = histogram(
    'kubelet_run_podsandbox_duration_seconds',
    'Seconds that RunPodSandbox took.',
    DEFAULT_BUCKETS,
    'runtime_handler',
  );
  const sandboxErrors = counter(
    'kubelet_run_podsandbox_errors_total',
    'RunPodSandbox calls that failed.',
    'runtime_handler',
  );
  const startedPods = counter('kubelet_started_pods_total', 'Attempts to create a sandbox.');
  const startedPodErrors = counter('kubelet_started_pods_errors_total', 'Failed attempts to create a sandbox.');
  const userNamespacedPods = counter(
    'kubelet_started_user_namespaced_pods_total',
    'Attempts to create the sandbox of a pod with users of its own.',
  );
  const userNamespacedPodErrors = counter(
    'kubelet_started_user_namespaced_pods_errors_total',
    'Failed attempts to create the sandbox of a pod with users of its own.',
  );
  const startedContainers = counter(
    'kubelet_started_containers_total',
    'Attempts to start a container.',
    'container_type',
  );
  const startedContainerErrors = counter(
    'kubelet_started_containers_errors_total',
    'Failed attempts to start a container.',
    'container_type',
    'code',
  );
  const terminatedContainers = counter(
    'kubelet_terminated_containers_total',
    'Containers that ended.',
    'container_type',
    'exit_code',
    'reason',
  );
  const workerSeconds = histogram(
    'kubelet_pod_worker_duration_seconds',
    'Seconds of one sync of a pod worker.',
    DEFAULT_BUCKETS,
    'operation_type',
  );
  const workerStartSeconds = histogram(
    'kubelet_pod_worker_start_duration_seconds',
    'Seconds from seeing a pod to starting its worker.',
    DEFAULT_BUCKETS,
  );
  const podStartSeconds = histogram(
    'kubelet_pod_start_duration_seconds',
    'Seconds from seeing a pod to its containers running.',
    POD_START_BUCKETS,
  );
  const containersPerPod = histogram(
    'kubelet_containers_per_pod_count',
    'Regular containers of an admitted pod.',
    [1, 2, 4, 8, 16],
  );
  const relistSeconds = histogram('kubelet_pleg_relist_duration_seconds', 'Seconds of one relist.', DEFAULT_BUCKETS);
  const relistInterval = histogram(
    'kubelet_pleg_relist_interval_seconds',
    'Seconds between the starts of two relists.',
    DEFAULT_BUCKETS,
  );
  const cgroupSeconds = histogram(
    'kubelet_cgroup_manager_duration_seconds',
    'Seconds of one change of a cgroup, failed ones included.',
    DEFAULT_BUCKETS,
    'operation_type',
  );
  const podRelistSeconds = histogram(
    'kubelet_pleg_pod_relist_duration_seconds',
    'Seconds of one relist of a single pod.',
    DEFAULT_BUCKETS,
  );
  const plegSeen = gauge('kubelet_pleg_last_seen_seconds', 'Unix time of the newest relist.');
  const lateReads = counter('rx_kubelet_late_pod_reads_total', 'Reads of one pod that took more than ten seconds.');
  const eventedPlegLatency = histogram(
    'kubelet_evented_pleg_connection_latency_seconds',
    'Seconds from the creation of a container event by the runtime to its arrival.',
    DEFAULT_BUCKETS,
  );
  const eventedPlegConnected = counter(
    'kubelet_evented_pleg_connection_success_count',
    'Streams of container events that were opened.',
  );
  const eventedPlegBroken = counter(
    'kubelet_evented_pleg_connection_error_count',
    'Streams of container events that broke or were refused.',
  );
  const runningPods = gauge('kubelet_running_pods', 'Pods with a ready sandbox.');
  const runningContainers = gauge('kubelet_running_containers', 'Containers by state.', 'container_state');
  const desiredPods = gauge('kubelet_desired_pods', 'Pods that the sources want.', 'static');
  const activePods = gauge('kubelet_active_pods', 'Pods that are admitted and not terminated.', 'static');
  const workingPods = gauge('kubelet_working_pods', 'Pods by state of their worker.', 'lifecycle', 'config', 'static');
  const losingSupport = gauge(
    'kubelet_cri_losing_support',
    'The runtime works up to this version of Kubernetes, without it; always 1.',
    'version',
  );
  const ephemeralContainers = gauge(
    'kubelet_managed_ephemeral_containers',
    'Ephemeral containers in the specifications of all pods.',
  );
  const orphans = counter('kubelet_orphaned_runtime_pods_total', 'Pods that only the runtime knew.');
  const imagesCollected = counter(
    'kubelet_image_garbage_collected_total',
    'Images that were removed for their age or to make room.',
    'reason',
  );
  const sleepsCutShort = counter('kubelet_sleep_action_terminated_early_total', 'Hooks that slept and were cut short.');
  const httpFallbacks = counter(
    'kubelet_lifecycle_handler_http_fallbacks_total',
    'Hooks over HTTPS that worked over HTTP.',
  );
  const restarts = counter('kubelet_restarted_pods_total', 'Pods that came back with the same UID.', 'static');

  gauge('kubelet_node_name', "The node's name; always 1.", 'node').set({ node: nodeName }, 1);
  registerBuildInfo(registry, version);
  registerProcess(registry);
  registerEventLoopDelay(registry);

  const probes = probeMetrics();
  const metrics: Metrics = {
    runtimeOperation: (operation_type, seconds, failed) => {
      operations.inc({ operation_type });
      operationSeconds.observe({ operation_type }, seconds);
      if (failed) operationErrors.inc({ operation_type });
    },
    runPodSandbox: (runtime_handler, seconds, failed) => {
      sandboxSeconds.observe({ runtime_handler }, seconds);
      if (failed) sandboxErrors.inc({ runtime_handler });
    },
    podStarted: (failed) => {
      startedPods.inc();
      if (failed) startedPodErrors.inc();
    },
    userNamespacedPodStarted: (failed) => {
      userNamespacedPods.inc();
      if (failed) userNamespacedPodErrors.inc();
    },
    containerStarted: (container_type, code) => {
      startedContainers.inc({ container_type });
      if (code !== undefined) startedContainerErrors.inc({ container_type, code });
    },
    containerTerminated: (container_type, exitCode, reason) =>
      terminatedContainers.inc({ container_type, exit_code: exitCode, reason }),
    podWorker: (operation_type, seconds) => workerSeconds.observe({ operation_type }, seconds),
    podWorkerStart: (seconds) => workerStartSeconds.observe(seconds),
    podStart: (seconds) => podStartSeconds.observe(seconds),
    containersPerPod: (count) => containersPerPod.observe(count),
    relist: ({ seconds, intervalSeconds, at }) => {
      relistSeconds.observe(seconds);
      if (intervalSeconds !== undefined) relistInterval.observe(intervalSeconds);
      plegSeen.set(at / 1000);
    },
    cgroupOperation: (operation, seconds) => cgroupSeconds.observe({ operation_type: operation }, seconds),
    podRelist: (seconds) => podRelistSeconds.observe(seconds),
    podReadLate: () => lateReads.inc(),
    runtimeEvent: (seconds) => eventedPlegLatency.observe(seconds),
    runtimeEventsConnected: () => eventedPlegConnected.inc(),
    runtimeEventsBroken: () => eventedPlegBroken.inc(),
    running: (pods, containers) => {
      runningPods.set(pods);
      for (const [container_state, count] of Object.entries(containers)) {
        runningContainers.set({ container_state }, count);
      }
    },
    pods: ({ desired, active, working }) => {
      for (const [vector, count] of [
        [desiredPods, desired],
        [activePods, active],
      ] as const) {
        vector.set({ static: 'true' }, count.static);
        vector.set({ static: '' }, count.other);
      }
      // Every state is present from the first count on, and a state without pods is set to 0.
      for (const labels of WORKING_STATES) workingPods.set(labels, 0);
      for (const isStatic of ['true', '']) restarts.inc({ static: isStatic }, 0);
      for (const { count, ...labels } of working) workingPods.set(labels, count);
    },
    ephemeralContainers: (count) => ephemeralContainers.set(count),
    runtimeLosesSupport: (version) => losingSupport.set({ version }, 1),
    orphanedRuntimePod: () => orphans.inc(),
    sleepCutShort: () => sleepsCutShort.inc(),
    hookFellBackToHttp: () => httpFallbacks.inc(),
    imageCollected: (reason) => imagesCollected.inc({ reason }),
    ...eventMetrics(registry),
    ...certificateMetrics(registry),
    ...probes.metrics,
    ...admissionMetrics(registry),
    ...apiMetrics(registry),
    ...nodeMetrics(registry),
    ...imageMetrics(registry),
    ...podStatusMetrics(registry),
    ...shutdownMetrics(registry),
    ...evictionMetrics(registry),
    ...resizeMetrics(registry),
    ...volumeMetrics(registry),
    podRestarted: (isStatic) => restarts.inc({ static: isStatic ? 'true' : '' }),
  };
  registerStartTime(probes.registry);
  return {
    ...{ registry, probeRegistry: probes.registry, metrics },
    countRequests: requestMetrics(registry),
    countConversion: conversionMetric(registry),
  };
}

const registerBuildInfo = (registry: Registry, version: string): void => {
  const [major = '', minor = ''] = version.split('.');
  const labels = {
    major,
    minor,
    git_version: `v${version}`,
    git_commit: '',
    git_tree_state: '',
    build_date: '',
    go_version: '',
    compiler: `node ${process.version}`,
    platform: `${process.platform}/${goArchitecture(process.arch)}`,
  };
  new Gauge({
    name: 'kubernetes_build_info',
    help: 'What is running; always 1.',
    labelNames: Object.keys(labels),
    registers: [registry],
  }).set(labels, 1);
};
