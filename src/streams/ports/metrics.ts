import type { RuntimeContainerState } from '../../model/pleg/runtime-pod.js';
import type { PodCount, WorkingPods } from '../../model/pod-workers/housekeeping.js';
import type { ProbeWorker } from '../../model/probes/probe-worker.js';
import type { RequestedResize } from '../../model/resize/requested-resizes.js';
import type { ResizeCounts } from '../../model/resize/resize-counts.js';
import type { ShutdownState } from '../../model/shutdown/shutdown-state.js';
import type { OrphanCount } from '../../model/upkeep/pod-directories.js';
import type { VolumeCount } from '../../model/volumes/volume-states.js';

/** `kubelet_*` container types. */
export type MetricContainerType = 'container' | 'init_container' | 'ephemeral_container';

/** Source: pkg/kubelet/metrics/metrics.go NodeStartupDuration and its parts. */
export type NodeStartupPart = 'pre-kubelet' | 'pre-registration' | 'registration' | 'post-registration' | 'total';

/**
 * The reason why an event is dropped: too many about one object, too many in the queue, no answer of the API server for too long, or
 * a refusal.
 */
export type EventDropReason = 'spam' | 'overflow' | 'unanswered' | 'refused';

/**
 * Whether a pod may use a present image without a pull: the policy allows it, a record allows it, it may not, or the records cannot be
 * read. Source: pkg/kubelet/images/pullmanager/metrics.go mustAttemptImagePullResult
 */
export type ImageAccessResult = 'credentialPolicyAllowed' | 'credentialRecordFound' | 'mustAuthenticate' | 'error';

/** The measurements of the agent, under the kubelet's metric names. Calls are cheap and synchronous and do not fail. */
export interface Metrics {
  /** A CRI call, at its end. `operation` is the kubelet's name of it, such as `create_container`. */
  readonly runtimeOperation: (operation: string, seconds: number, failed: boolean) => void;
  /** One RunPodSandbox call: `kubelet_run_podsandbox_*`. `runtimeHandler` is empty for the default. */
  readonly runPodSandbox: (runtimeHandler: string, seconds: number, failed: boolean) => void;
  /** One attempt to create the sandbox of a pod: `kubelet_started_pods_*`. */
  readonly podStarted: (failed: boolean) => void;
  /** Such an attempt for a pod with `hostUsers: false`: `kubelet_started_user_namespaced_pods_*`. */
  readonly userNamespacedPodStarted: (failed: boolean) => void;
  /** One attempt to start a container; `failure` is the waiting reason, such as `ErrImagePull`. */
  readonly containerStarted: (type: MetricContainerType, failure?: string) => void;
  readonly containerTerminated: (type: MetricContainerType, exitCode: number, reason: string) => void;
  /** One run of a pod's worker. */
  readonly podWorker: (operation: 'create' | 'update' | 'sync' | 'kill' | 'terminated', seconds: number) => void;
  /** The time from the first sight of a pod to the start of its worker. */
  readonly podWorkerStart: (seconds: number) => void;
  /** The time from the first sight of a pod until its containers run. */
  readonly podStart: (seconds: number) => void;
  /** The number of regular containers of an admitted pod. */
  readonly containersPerPod: (count: number) => void;
  /** One listing of all pods. `intervalSeconds` is from start to start, absent for the first; `at` is Unix milliseconds. */
  readonly relist: (relist: {
    readonly seconds: number;
    readonly intervalSeconds?: number;
    readonly at: number;
  }) => void;
  /** One listing of one pod. */
  readonly podRelist: (seconds: number) => void;
  /** A slow read of one pod, before its end: `rx_kubelet_late_pod_reads_total`. */
  readonly podReadLate: () => void;
  /** A container event, with its age in seconds: `kubelet_evented_pleg_connection_latency_seconds`. */
  readonly runtimeEvent: (seconds: number) => void;
  readonly runtimeEventsConnected: () => void;
  readonly runtimeEventsBroken: () => void;
  /** The newest relist: pods with a ready sandbox, containers per state. */
  readonly running: (pods: number, containers: Readonly<Record<RuntimeContainerState, number>>) => void;
  /** The counts of housekeeping. */
  readonly pods: (counts: {
    readonly desired: PodCount;
    readonly active: PodCount;
    readonly working: readonly WorkingPods[];
  }) => void;
  /** The ephemeral containers in the specifications of all pods: `kubelet_managed_ephemeral_containers`. */
  readonly ephemeralContainers: (count: number) => void;
  /** A pod was not admitted, with the reason of its status: `kubelet_admission_rejections_total`. */
  readonly admissionRejected: (reason: string) => void;
  /** A runtime that a kubelet of this version will not support: `kubelet_cri_losing_support`. */
  readonly runtimeLosesSupport: (version: string) => void;
  readonly orphanedRuntimePod: () => void;
  readonly podRestarted: (isStatic: boolean) => void;
  /** A hook that sleeps was ended before its time: `kubelet_sleep_action_terminated_early_total`. */
  readonly sleepCutShort: () => void;
  /** A hook over HTTPS has worked over HTTP: `kubelet_lifecycle_handler_http_fallbacks_total`. */
  readonly hookFellBackToHttp: () => void;
  /**
   * The decision about the image of a container: `kubelet_image_manager_ensure_image_requests_total`. An unknown value is undefined:
   * `Always` does not ask whether the image is present.
   */
  readonly imageEnsured: (pullPolicy: string | undefined, isPresent?: boolean, mustPull?: boolean) => void;
  /** One question whether a pod may use a present image: `kubelet_imagemanager_image_mustpull_checks_total`. */
  readonly imageAccessChecked: (result: ImageAccessResult) => void;
  /** A pull that worked, with all its waits: `kubelet_image_pull_duration_seconds`. `bytes` is 0 if the size is not known. */
  readonly imagePulled: (seconds: number, bytes: bigint) => void;
  /** An image that garbage collection has removed, for its age or for space. */
  readonly imageCollected: (reason: 'age' | 'space') => void;
  /** A probe with a result, and its duration in seconds. */
  readonly probe: (worker: ProbeWorker, result: 'success' | 'failure', seconds: number) => void;
  /** The worker of a probe has ended; its series are removed. */
  readonly probeWorkerEnded: (worker: ProbeWorker) => void;
  /** Events that wait for the API server: `rx_kubelet_queued_events`. */
  readonly eventsQueued: (count: number) => void;
  /** A dropped event, with the reason: `rx_kubelet_dropped_events_total`. */
  readonly eventDropped: (reason: EventDropReason) => void;
  /**
   * The expiry of the client certificate, Unix milliseconds, for `kubelet_certificate_manager_client_ttl_seconds`; undefined without
   * a certificate.
   */
  readonly clientCertificate: (notAfter: number | undefined) => void;
  /** A failed attempt to get a client certificate: `kubelet_certificate_manager_client_expiration_renew_errors`. */
  readonly clientCertificateFailed: () => void;
  /** The expiry of the serving certificate that a signer issued, as above: `kubelet_certificate_manager_server_ttl_seconds`. */
  readonly servingCertificate: (notAfter: number | undefined) => void;
  /** A failed attempt to get a serving certificate: `kubelet_server_expiration_renew_errors`. */
  readonly servingCertificateFailed: () => void;
  /** The age of a serving certificate when it was replaced: `kubelet_certificate_manager_server_rotation_seconds`. */
  readonly servingCertificateRotated: (seconds: number) => void;
  /** An attempt of a request to the API server: `rest_client_requests_total`. `code` is undefined without a reply. */
  readonly apiAttempt: (method: string, host: string, code: number | undefined) => void;
  /** A request that is no watch, with all its waits: `rest_client_request_duration_seconds`. */
  readonly apiRequest: (method: string, host: string, seconds: number) => void;
  /** The wait of an attempt for its token: `rest_client_rate_limiter_duration_seconds`. */
  readonly apiThrottled: (method: string, host: string, seconds: number) => void;
  /** The time from the first unwritten change of a pod's status to its write: `kubelet_pod_status_sync_duration_seconds`. */
  readonly podStatusSynced: (seconds: number) => void;
  /** The number of mirror pods in the API: `kubelet_mirror_pods`. */
  readonly mirrorPods: (count: number) => void;
  /** The time from the creation of a pod until the watch shows that it runs: `kubelet_pod_start_total_duration_seconds`. */
  readonly podStartObserved: (seconds: number) => void;
  /** The same without image pulls and init containers: `kubelet_pod_start_sli_duration_seconds`. */
  readonly podStartWithoutPulls: (seconds: number) => void;
  /** The same of the first pod with a network of its own: `kubelet_first_network_pod_start_sli_duration_seconds`. */
  readonly firstNetworkPodStart: (seconds: number) => void;
  /** The duration of a part of the start of a new node: `kubelet_node_startup_*`; `total` is from the start of the machine. */
  readonly nodeStartup: (part: NodeStartupPart, seconds: number) => void;
  /** One attempt of an operation on a volume: `storage_operation_duration_seconds`. */
  readonly storageOperation: (operation: StorageOperation) => void;
  /** One change of a cgroup, failed ones too: `kubelet_cgroup_manager_duration_seconds`. */
  readonly cgroupOperation: (operation: 'create' | 'update' | 'destroy', seconds: number) => void;
  /** All volumes of the node, by plugin: `volume_manager_total_volumes`. */
  readonly volumes: (counts: readonly VolumeCount[]) => void;
  /**
   * The end of a clean-up of the directories of pods that are over: `kubelet_orphan_pod_cleaned_volumes` and
   * `kubelet_orphan_pod_cleaned_volumes_errors`.
   */
  readonly orphansCleaned: (count: OrphanCount) => void;
  /** All sources `podCertificate` of the node, by signer and state: `kubelet_podcertificate_states`. */
  readonly podCertificates: (counts: readonly PodCertificateCount[]) => void;
  /**
   * The newest shutdown of the node: `kubelet_graceful_shutdown_start_time_seconds` and `kubelet_graceful_shutdown_end_time_seconds`.
   */
  readonly nodeShutdown: (state: ShutdownState) => void;
  /**
   * A pod is evicted: `kubelet_evictions`, and `kubelet_eviction_stats_age_seconds` with the age of the figures, undefined for a limit of
   * the pod itself.
   */
  readonly podEvicted: (signal: string, statsAgeSeconds: number | undefined) => void;
  /** A pod is stopped to make room for a critical one, which lacks this resource: `kubelet_preemptions`. */
  readonly podPreempted: (resource: string) => void;
  /** A version of a pod asks for another amount of a container: `kubelet_container_requested_resizes_total`. */
  readonly resizeRequested: (request: RequestedResize) => void;
  /** The pods whose resize waits, or is in progress: `kubelet_pod_pending_resizes`, `kubelet_pod_in_progress_resizes`. */
  readonly resizes: (counts: ResizeCounts) => void;
  /** A resize cannot be done: `kubelet_pod_infeasible_resizes_total`. */
  readonly resizeInfeasible: (detail: string) => void;
  /** A resize that has waited fits: `kubelet_pod_deferred_accepted_resizes_total`. */
  readonly deferredResizeAccepted: (trigger: string) => void;
  /** The writes of a resize have ended: `kubelet_pod_resize_duration_milliseconds`. */
  readonly resizeActuated: (milliseconds: number, isSuccess: boolean) => void;
}

export interface PodCertificateCount {
  readonly signerName: string;
  /** `not_yet_issued`, `fresh`, `overdue_for_refresh`, `expired`, `denied` or `failed`. */
  readonly state: string;
  readonly count: number;
}

export interface StorageOperation {
  /** Such as `kubernetes.io/secret`. */
  readonly plugin: string;
  readonly operation: 'volume_mount' | 'volume_unmount';
  readonly failed: boolean;
  readonly seconds: number;
}

const nothing = (): void => undefined;

/** Measures nothing: for tests, simulations and agents without a registry. */
export const noMetrics: Metrics = {
  nodeShutdown: nothing,
  podEvicted: nothing,
  podPreempted: nothing,
  resizeRequested: nothing,
  resizes: nothing,
  resizeInfeasible: nothing,
  deferredResizeAccepted: nothing,
  resizeActuated: nothing,
  runtimeOperation: nothing,
  runPodSandbox: nothing,
  podStarted: nothing,
  userNamespacedPodStarted: nothing,
  containerStarted: nothing,
  containerTerminated: nothing,
  podWorker: nothing,
  podWorkerStart: nothing,
  podStart: nothing,
  containersPerPod: nothing,
  relist: nothing,
  podRelist: nothing,
  podReadLate: nothing,
  runtimeEvent: nothing,
  runtimeEventsConnected: nothing,
  runtimeEventsBroken: nothing,
  running: nothing,
  pods: nothing,
  ephemeralContainers: nothing,
  admissionRejected: nothing,
  runtimeLosesSupport: nothing,
  orphanedRuntimePod: nothing,
  podRestarted: nothing,
  sleepCutShort: nothing,
  hookFellBackToHttp: nothing,
  imageEnsured: nothing,
  imageAccessChecked: nothing,
  imagePulled: nothing,
  imageCollected: nothing,
  probe: nothing,
  probeWorkerEnded: nothing,
  eventsQueued: nothing,
  eventDropped: nothing,
  clientCertificate: nothing,
  clientCertificateFailed: nothing,
  servingCertificate: nothing,
  servingCertificateFailed: nothing,
  servingCertificateRotated: nothing,
  apiAttempt: nothing,
  apiRequest: nothing,
  apiThrottled: nothing,
  podStatusSynced: nothing,
  mirrorPods: nothing,
  podStartObserved: nothing,
  podStartWithoutPulls: nothing,
  firstNetworkPodStart: nothing,
  nodeStartup: nothing,
  storageOperation: nothing,
  cgroupOperation: nothing,
  volumes: nothing,
  orphansCleaned: nothing,
  podCertificates: nothing,
};
