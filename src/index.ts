// The parts of a node agent. They do not touch the machine: they load no module of Node, read no clock and draw no random
// number, so all of them run under a virtual scheduler. The adapters to a machine are in node.ts.

// The agent
export type { Kubelet, KubeletOptions, KubeletPorts, KubeletView } from './kubelet-options.js';
export type { UpkeepPolicies } from './streams/upkeep/upkeep.js';
export { kubelet } from './kubelet.js';

// Ports: the outside world of the agent
export type * from './streams/ports/api-server.js';
export type * from './streams/ports/cgroups.js';
export type * from './streams/ports/check-health.js';
export type * from './streams/ports/disk-space.js';
export type * from './streams/ports/http-request.js';
export type * from './streams/ports/image-service.js';
export type * from './streams/ports/last-known.js';
export type * from './streams/ports/log-files.js';
export type * from './streams/ports/logger.js';
export type * from './streams/ports/lookup-host.js';
export type * from './streams/ports/node-files.js';
export type * from './streams/ports/pod-certificate-keys.js';
export type * from './streams/ports/pod-files.js';
export type * from './streams/ports/pod-references.js';
export type * from './streams/ports/probe-handlers.js';
export type * from './streams/ports/random.js';
export type * from './streams/ports/read-machine.js';
export type * from './streams/ports/record-event.js';
export type * from './streams/ports/record-journal.js';
export type * from './streams/ports/runtime-classes.js';
export type * from './streams/ports/runtime-service.js';
export type * from './streams/ports/tcp-connect.js';
export type * from './streams/ports/volume-files.js';
export type * from './streams/ports/wall-clock.js';
/** Requests and answers of the CRI: `cri.RunPodSandboxRequest`. */
export type * as cri from './generated/runtime/v1/api.js';
export { type CredentialPorts, noCredentials } from './streams/ports/credential-ports.js';
export { type LogReading, noLogs, type OpenLog } from './streams/ports/log-reading.js';
export {
  type EventDropReason,
  type MetricContainerType,
  type Metrics,
  type NodeStartupPart,
  noMetrics,
  type ImageAccessResult,
  type PodCertificateCount,
  type StorageOperation,
} from './streams/ports/metrics.js';
export type { PodCount, WorkingPods } from './model/pod-workers/housekeeping.js';
export type { OrphanCount } from './model/upkeep/pod-directories.js';
export type { ShutdownInhibitor, ShutdownLock, ShutdownSignal } from './streams/ports/shutdown-inhibitor.js';
export type { Checkpoints } from './streams/ports/checkpoints.js';
export type { CheckpointName } from './model/resize/checkpoints.js';
export { noShutdownStates, type ShutdownStates } from './streams/ports/shutdown-states.js';
export type { ShutdownState } from './model/shutdown/shutdown-state.js';
export type { ShutdownGroup } from './model/shutdown/shutdown-groups.js';
export type { EvictionFigures } from './streams/ports/eviction-figures.js';
export type { OomLog } from './streams/ports/oom-log.js';
export type {
  ContainerFigures,
  DiskUse,
  PodFigures,
  SignalObservation,
  SignalObservations,
  VolumeFigures,
} from './model/eviction/figures.js';
export type { DiskDevices, EvictionSignal } from './model/eviction/signals.js';
export type { EvictionPolicy } from './model/eviction/eviction-policy.js';
export {
  DEFAULT_EVICTION_HARD,
  evictionThresholds,
  type Threshold,
  type ThresholdFields,
  type ThresholdValue,
} from './model/eviction/thresholds.js';
export type { QuantityFormat } from './model/resources/quantity.js';
export type { NodePressure } from './model/node/node-conditions.js';
export { noProbeRecords, type ProbeRecords } from './streams/ports/probe-records.js';
export { noPullRecords, type PullRecords } from './streams/ports/pull-records.js';
export type { NodeCgroups } from './streams/cgroups/node-cgroups.js';
export type { CgroupDriver, CgroupName } from './model/cgroups/cgroup-name.js';
export type { CgroupReading, CgroupResources } from './model/cgroups/cgroup-resources.js';
export type { MemoryQos, MemoryThrottling } from './model/cgroups/memory-qos.js';
export type { CgroupSettings, Enforcement } from './model/cgroups/cgroup-settings.js';
export type { ResourceAmounts } from './model/resources/pod-resources.js';
export type { Nanos } from './model/resources/quantity.js';
export type { VolumeFile, VolumePayload } from './model/volumes/volume-payload.js';
export type {
  MountPointSetup,
  SubPathSetup,
  VolumeMount,
  VolumeOwnership,
  VolumeSetup,
} from './model/volumes/volume-setup.js';
export { CriError, type CriErrorCode } from './model/cri/cri-error.js';
export { HttpFailure, type HttpFailureStage } from './model/config/http-failure.js';
export { HealthFailure, type HealthFailureStage } from './model/probes/health-failure.js';
export type { GrpcCode } from './model/probes/grpc-code.js';
export type { ProbeOutcome } from './model/probes/probe-outcome.js';
export { ProbeErrored } from './model/probes/probe-errored.js';
export type { HttpGetAnswer, HttpGetRequest, HttpHeader } from './model/config/http-get.js';
export type { NodeFacts, ResolvConf } from './model/node/node-facts.js';
export type { SecurityField } from './model/manifest/security-fields.js';

// Sources of pods
export { podSet, type PodSet, type SourceEvent, sourceProblem, type SourceProblem } from './model/pod/pod-set.js';
export {
  type ManifestOrigin,
  type ManifestReading,
  type ManifestRules,
  readManifest,
} from './model/manifest/parse-manifest.js';
export type { ManifestObject } from './model/manifest/object-manifest.js';
export type { ManifestPod, PodManifest } from './model/manifest/pod-manifest.js';
export type { StaticPodRules } from './model/manifest/static-pod-restrictions.js';
export { formatManifestProblem, type ManifestProblem } from './model/manifest/manifest-problem.js';
export { placePods } from './model/manifest/place-pods.js';
export { placeObjects } from './model/manifest/place-objects.js';
export { type SourceObject, sourceObjectKey } from './model/references/source-object.js';
export { applySourceDefaults, type SourceOfManifest } from './model/manifest/source-defaults.js';

// Streams: the parts of the agent
export { podConfig, type PodConfigOptions, type PodSources } from './streams/config/pod-config.js';
export type { PodConfigUpdate, PodOperation } from './model/config/pod-config.js';
export { pleg, type PlegOptions, type ViewRequest } from './streams/pleg/pleg.js';
export type { PlegObservation } from './streams/pleg/pleg-observation.js';
export { createPodCache, type PodCache, type PodCacheEntry, type PodReading } from './streams/pleg/pod-cache.js';
export { type RuntimeEventNews, runtimeEvents } from './streams/pleg/runtime-events.js';
export { type ReaderCalls, type RuntimeReader, runtimeReader } from './streams/pleg/runtime-reader.js';
export { type TerminationMessages } from './streams/pleg/termination-messages.js';
export {
  type PodRun,
  type PodWork,
  podWorkers,
  type PodWorkerOptions,
  type RuntimePodRun,
  type SyncResult,
  type WorkerOutcome,
} from './streams/pod-workers/pod-workers.js';
export type { ActiveUpdate, PodWorkerRecord, WorkType } from './model/pod-workers/pod-worker-record.js';
export type {
  KnownPod,
  KnownPods as KnownWorkers,
  PodWorkerRegistry,
} from './model/pod-workers/pod-worker-registry.js';
export type {
  Completion as RunCompletion,
  Run as WorkerRun,
  RunResult,
  Start as RunStart,
} from './model/pod-workers/pod-worker-run.js';
export type { DueWork, WorkQueue } from './model/pod-workers/work-queue.js';
export { type ProbeChange } from './streams/probes/probe-worker.js';
export { type ProbeFeatures, probeHandlers, type ProbePorts } from './streams/probes/probe-handlers.js';
export { type PullLimits } from './streams/images/pull-queue.js';
export { garbageCollection, type GarbageCollectionOptions } from './streams/upkeep/garbage-collection.js';
export { type ImageGarbage, imageGarbage, type ImageGcOptions } from './streams/images/image-gc.js';
export { logRotation, type LogRotationOptions } from './streams/upkeep/log-rotation.js';
export { containerLog, type ContainerLogOptions } from './streams/logs/container-log.js';
export { isContainerRunning } from './streams/logs/is-container-running.js';
export { runOnce, RunOnceError, type RunOnceOptions, type RunOnceResult } from './streams/run-once/run-once.js';
export { syncLoop, type SyncLoopHandlers, type SyncLoopInputs } from './streams/sync-loop/sync-loop.js';
export type { StopRequest } from './streams/sync-loop/handle-stop.js';
export type { AdmissionFacts } from './model/admission/admission-facts.js';
export type { SelectableNode } from './model/admission/node-affinity.js';
export { admitPod } from './model/admission/admit-pod.js';
export type { MissingResource } from './model/admission/missing-resources.js';
export { type Admit, firstRejection, type Rejection } from './model/admission/rejection.js';

// A node of a cluster
export { ApiError, type ApiErrorInit } from './model/kube-api/api-error.js';
export type { ApiObject, ApiObjectMeta } from './model/kube-api/api-object.js';
export { apiSource, type ApiSourceOptions, type ApiSourcePorts } from './streams/config/api-source.js';
export { type ClusterOptions, type ClusterPorts } from './streams/cluster/cluster-node.js';
export { type ChangeDetection } from './streams/references/pod-references.js';
export { type ManifestReferences, manifestReferences } from './streams/references/manifest-references.js';
export type { ConfigMap, Secret, Service } from './model/references/referenced-object.js';
export type { TrustBundle } from './model/references/trust-bundle.js';
export type { ListWatchPorts } from './streams/reflector/list-watch.js';
export type { Node, NodeStatus, Taint } from './model/node/node.js';
export type { NodeObjectSettings } from './model/node/node-settings.js';
export type { HugePages, MachineFacts, NetworkFacts } from './model/node/machine-facts.js';

// Operators, which know no pods
export { alongside } from './streams/operators/alongside.js';
export { concatMapBounded, type WaitingLine } from './streams/operators/concat-map-bounded.js';
export { debounceAtMost, type DebounceTiming } from './streams/operators/debounce-at-most.js';
export { errorOnAbort } from './streams/operators/error-on-abort.js';
export { every, type Period } from './streams/operators/every.js';
export {
  exhaustMapLatest,
  exhaustMapLatestBy,
  type Preempts,
  type Project,
} from './streams/operators/exhaust-map-latest.js';
export { gate, type GateOptions } from './streams/operators/gate.js';
export { inSlots, type Slots } from './streams/operators/in-slots.js';
export { limitByKey, type KeyLimits } from './streams/operators/limit-by-key.js';
export { inTurns, type Turns } from './streams/operators/in-turns.js';
export { poll, type Polled, type PollTiming } from './streams/operators/poll.js';
export { startWithPresent } from './streams/operators/start-with-present.js';
export { repeatWhile } from './streams/operators/repeat-while.js';
export { type RetryTiming, retryWithBackoff } from './streams/operators/retry-with-backoff.js';
export { type KeptAnswers, reuseByKey } from './streams/operators/reuse-by-key.js';
export { tapIfSlow } from './streams/operators/tap-if-slow.js';
export { toMap } from './streams/operators/to-map.js';
export { type ConnectionTiming, tendConnection, type TendedConnection } from './streams/operators/tend-connection.js';
export { type Patience, untilTrue } from './streams/operators/until-true.js';
export {
  type Watched,
  type WatchedEvent,
  watchedListing,
  type WatchTiming,
} from './streams/operators/watched-listing.js';

// The model: wanted pods, running pods, and the decisions about both
export type {
  Container,
  ContainerStatus,
  HttpGetAction,
  Json,
  Pod,
  PodRef,
  PodSourceName,
  PodSpec,
  PodStatus,
  Probe,
} from './model/pod/pod.js';
export type {
  RuntimeContainerState,
  RuntimeContainerStatus,
  RuntimeItem,
  RuntimePod,
  RuntimePodStatus,
} from './model/pleg/runtime-pod.js';
export { computePodActions, type PodActionsInput } from './model/pod-actions/compute-pod-actions.js';
export type {
  ContainerToKill,
  ContainerToReset,
  KillReason,
  PodActions,
  ProbeResults,
  ProbeVerdict,
} from './model/pod-actions/pod-actions.js';
export type { InstanceStart, InstanceStarts, PodStarts } from './model/pod-actions/instance-starts.js';
export type { BackOffs, ImagePulls } from './model/pod-actions/back-offs.js';
export type { DueHooks, DueHooksView } from './model/pod-actions/due-hooks.js';
export type { StartFailure, StartFailures } from './model/pod-actions/start-failures.js';
export type { PodWait } from './model/pod-actions/start-wait.js';
export type { RunningPod } from './model/pleg/running-pods.js';
export { type ProbePace } from './model/probes/probe-pace.js';
export { type ProbeRecord } from './model/probes/probe-record.js';
export { type ProbeResult, type ProbeType, type ProbeWorker } from './model/probes/probe-worker.js';
export { restartVerdict, type RestartVerdict } from './model/pod-actions/restart-policy.js';
export { sandboxChanged, type SandboxVerdict } from './model/pod-actions/sandbox-changed.js';
export {
  type CrashLoopEntry,
  type CrashLoopInput,
  type CrashLoopVerdict,
  decideBackOff,
  type ExitedInstance,
} from './model/pod-actions/crash-loop-back-off.js';
export { type PodChange } from './model/pod-status/pod-change.js';
export { type EndVerdict } from './model/pod-actions/end-counts.js';
export type { BackOffEntry } from './model/values/back-off.js';
export { generatePodStatus, type PodStatusInput } from './model/pod-status/generate-pod-status.js';
export { podPhase, type PodPhase, type PodPhaseInput } from './model/pod-status/pod-phase.js';
export { type ContainerGcPolicy } from './model/upkeep/container-gc.js';
export { type LogPrintOptions } from './model/logs/log-printer.js';
export { type LogStream } from './model/logs/log-options.js';
export { type LogRotationPolicy } from './model/upkeep/log-rotation.js';
export { type ImageDisk, type ImageGcPolicy } from './model/images/image-gc.js';
export {
  type PlegCadence,
  type PlegEvent,
  type PlegEventType,
  type PlegHealth,
  plegHealth,
  type PlegState,
} from './model/pleg/pleg.js';
export {
  kubeletState,
  type KubeletState,
  type KubeletStateOptions,
  type Transition,
} from './streams/sync-loop/kubelet-state.js';
export { initialState, type NodeState, podWithStatus } from './model/node-state/node-state.js';
export { reduce } from './model/node-state/reduce.js';
export type { StateChange, StateChanges } from './model/node-state/state-change.js';
export type { Wake } from './model/pod-workers/wake.js';
export {
  type KillOptions,
  type KillEvent,
  type KillRequest,
  type RecordedKill,
  type PodUpdate,
  type PodUpdateType,
} from './model/pod-workers/pod-update.js';
export type { HealthFacts } from './model/runtime-health/health-facts.js';
export type { RuntimeState, RuntimeStatus } from './model/runtime-health/runtime-state.js';
export type { WorkerActivities, WorkerActivity } from './model/pod-workers/worker-activity.js';
export type { ActiveTimes, Moment as StartMoment, SeenPodStart } from './model/pod/active-times.js';
export type {
  PodVolumeStates,
  UnfinishedVolume,
  VolumeCount,
  VolumeName,
  VolumeState,
  VolumeStates,
  VolumeStatesView,
} from './model/volumes/volume-states.js';
export type { Volume } from './model/manifest/volume-defaults.js';
export type { ActuatedAmounts, ContainerUpdate } from './model/resize/actuated.js';
export type {
  ActuatedPod,
  Allocation,
  InstanceAmounts,
  KeptAmounts,
  PendingResize,
  PodAmounts,
  PodResizes,
} from './model/resize/pod-resizes.js';
export type { RequestedResize } from './model/resize/requested-resizes.js';
export type { ResizeCounts } from './model/resize/resize-counts.js';
export type { ShownResize } from './model/resize/resize-conditions.js';
export type { Amounts } from './model/pod/allocated-resources.js';
export type { ResourceList } from './model/resources/resource-list.js';
export type { ResizeTrigger } from './streams/resize/resize-triggers.js';
export type { Preemptions, RoomWait } from './model/admission/preemptions.js';
export type { SourcesReady } from './model/config/sources-ready.js';
export type { NamedPods, PodAndMirror, WantedPods, WantedPodsView } from './model/pod/wanted-pods.js';
export type { PodStatuses, PodStatusesView, StoredStatus } from './model/pod-status/pod-statuses.js';
export type { FailedPull, PullFailure } from './model/images/image-back-off.js';

// Images: their names, and the credentials to pull them
export { type DockerConfig, type RegistryCredential } from './model/images/docker-config.js';
export { type PullSecret } from './model/images/pull-secret.js';
export { type PulledRecord, type RecordedAccess, type RecordedSecret } from './model/images/pulled-record.js';
export { type ImageVerification } from './model/images/image-verification.js';

// The journal: entries with their causes
export type * from './model/journal/journal.js';
export { explainWhy, type Question } from './tools/why/why.js';

// The life of a pod as lanes
export type {
  InstantLook,
  Lane,
  LaneKind,
  Mark,
  Severity,
  SpanLook,
  Timeline,
  TimelineEntry,
  TimelinePod,
} from './tools/timeline/lanes.js';
export type { Observation as TimelineObservation, Observed, Relist } from './tools/timeline/observations.js';
export type { Charset } from './tools/timeline/text-cells.js';
export type { TextStyle } from './tools/timeline/text-pen.js';
export { type JournalOfPods, timelineOfJournal } from './tools/timeline/timeline-of-journal.js';
export { renderText as renderTimelineText, type TextOptions } from './tools/timeline/render-text.js';
export { renderSvg as renderTimelineSvg, type SvgOptions } from './tools/timeline/render-svg.js';
export { renderPage as renderTimelinePage, type PageOptions } from './tools/timeline/render-page.js';

// Recording an agent and replaying it
export { type MakeKubelet, recordKubelet, type RecordOptions } from './tools/recording/record-kubelet.js';
export { type EntryPlace, type Recording, replay, type ReplayOptions } from './tools/recording/replay.js';
export type {
  DifferentReplay,
  ReplayedCause,
  ReplayResult,
  SameReplay,
} from './tools/recording/replay/replay-result.js';
export type {
  CutEntry,
  InputEntry,
  JournalPlain,
  Moment as InputMoment,
  OutputEntry,
  Plain,
  RecordingEntry,
  RecordingHeader,
} from './tools/recording/entries/recording-entry.js';
export { RecordingError } from './tools/recording/replay/recording-error.js';
