// What a program builds a node agent from, or a part of one. Nothing here touches the machine: it loads no module of Node,
// reads no clock and draws no random number, so all of it runs under a virtual scheduler. What does, is in node.ts.

// The agent
export { type Kubelet, kubelet, type KubeletOptions, type KubeletPorts } from './kubelet.js';

// Ports: what the agent asks of the world
export type * from './streams/ports.js';
/** Requests and answers of the CRI: `cri.RunPodSandboxRequest`. */
export type * as cri from './generated/runtime/v1/api.js';
export { noMetrics } from './streams/no-metrics.js';
export { noCredentials } from './streams/no-credentials.js';
export { noPullRecords } from './streams/no-pull-records.js';
export { CriError, type CriErrorCode, errorText, isCriError } from './model/cri-error.js';
export { HttpFailure, type HttpFailureStage } from './model/http-failure.js';
export { HealthFailure, type HealthFailureStage } from './model/probes/health-failure.js';
export { ProbeErrored } from './model/probes/probe-errored.js';
export type { HttpGetAnswer, HttpGetRequest, HttpHeader } from './model/http-get.js';
export type { NodeFacts, ResolvConf } from './model/node-facts.js';

// Sources of pods
export { podSet, type PodSet, type SourceEvent, sourceProblem, type SourceProblem } from './model/pod-set.js';
export { type ManifestOrigin, type ManifestReading, readManifest } from './model/manifest/parse-manifest.js';
export { formatManifestProblem, type ManifestProblem } from './model/manifest/manifest-problem.js';
export { placePods } from './model/manifest/place-pods.js';
export { applySourceDefaults, type SourceOfManifest } from './model/manifest/source-defaults.js';
export { validatePod } from './model/manifest/validate-pod.js';

// Streams: what the agent is made of
export { podConfig, type PodConfigOptions, type PodSources } from './streams/pod-config.js';
export { pleg, type PlegObservation, type PlegOptions, type ViewRequest } from './streams/pleg.js';
export { createPodCache, type PodCache, type PodReading } from './streams/pod-cache.js';
export { type RuntimeEventNews, runtimeEvents } from './streams/runtime-events.js';
export { type RuntimeReader, runtimeReader } from './streams/runtime-reader.js';
export { type TerminationMessages, terminationMessages } from './streams/termination-messages.js';
export { type PodDirectories, podDirectories, type PodDirectoriesOptions } from './streams/pod-directories.js';
export { podWorkers, type PodWorkerOptions, type WorkerOutcome } from './streams/pod-workers.js';
export { podWork, type PodWorkPorts } from './streams/pod-work.js';
export {
  type PodProbes,
  type ProbeFindings,
  type Prober,
  prober,
  type ProberOptions,
} from './streams/probes/prober.js';
export { noProbeRecords, noProbes } from './streams/probes/no-probes.js';
export {
  type ProbeChange,
  type ProbeNudge,
  probeWorker,
  type ProbeWorkerOptions,
} from './streams/probes/probe-worker.js';
export { probeHandlers, type ProbePorts } from './streams/probes/probe-handlers.js';
export { type PullLimits, type PullQueue, pullQueue } from './streams/pull-queue.js';
export { type StartingCall, type StartQueue, startQueue } from './streams/start-queue.js';
export { ledgerFor, noLedger, type PullLedger, pullLedger, type PullLedgerPorts } from './streams/pull-ledger.js';
export { garbageCollection, type GarbageCollectionOptions } from './streams/garbage-collection.js';
export { imageGarbageCollection, type ImageGcOptions } from './streams/image-gc.js';
export { logRotation, type LogRotationOptions } from './streams/log-rotation.js';
export { runOnce, RunOnceError, type RunOnceOptions, type RunOnceResult } from './streams/run-once.js';
export {
  housekeepingTicks,
  syncLoop,
  type SyncLoopHandlers,
  type SyncLoopInputs,
  syncTicks,
} from './streams/sync-loop/sync-loop.js';
export type { StopRequest } from './streams/sync-loop/handle-stop.js';
export type { AdmissionFacts } from './model/admission/admission-facts.js';
export { admitPod } from './model/admission/admit-pod.js';
export { type Admit, firstRejection, type Rejection } from './model/admission/rejection.js';

// A node of a cluster
export { ApiError } from './model/api/api-error.js';
export type { ApiList, ApiObject, ApiObjectMeta } from './model/api/api-object.js';
export type { ReflectorEvent } from './model/api/reflector-event.js';
export { type ApiClient, apiClient, type ApiClientOptions } from './streams/api/api-client.js';
export { reflector, type ReflectorOptions, type ReflectorPorts } from './streams/api/reflector.js';
export { apiSource, type ApiSourceOptions, type ApiSourcePorts } from './streams/api/api-source.js';
export {
  type ClusterNode,
  clusterNode,
  type ClusterOptions,
  type ClusterPorts,
} from './streams/cluster/cluster-node.js';
export {
  clientCertificates,
  type ClientCertificatesOptions,
  type ClientCertificatesPorts,
} from './streams/certificates/client-certificates.js';
export { type EventSink, eventSink, type EventSinkOptions, type EventSinkPorts } from './streams/events/event-sink.js';
export {
  type ChangeDetection,
  type ClusterReferences,
  podReferences,
  type PodReferencesOptions,
  type PodReferencesPorts,
} from './streams/api/pod-references.js';
export { type TokenManager, tokenManager, type TokenManagerPorts } from './streams/api/token-manager.js';
export type { ConfigMap, RuntimeClass, Secret, Service } from './model/api/referenced-object.js';
export { serviceEnvironment, type ServiceLinks } from './model/cri/service-env.js';
export { type NodeManager, nodeManager, type NodeManagerOptions } from './streams/node/node-manager.js';
export { mirrorPods, type MirrorPodPorts } from './streams/status/mirror-pods.js';
export { statusManager, type StatusManagerPorts } from './streams/status/status-manager.js';
export type { NodeObjectSettings } from './model/node/node-settings.js';
export type { MachineFacts } from './model/node/machine-facts.js';

// Operators that have never heard of a pod
export {
  type AdaptiveLimit,
  adaptiveLimit,
  type AdaptiveLimitOptions,
  type LimitedCall,
} from './streams/operators/adaptive-limit.js';
export { concatMapBounded, type WaitingLine } from './streams/operators/concat-map-bounded.js';
export { conflateByKey } from './streams/operators/conflate-by-key.js';
export { errorOnAbort } from './streams/operators/error-on-abort.js';
export { exhaustMapLatest } from './streams/operators/exhaust-map-latest.js';
export { poll, type Polled, type PollTiming } from './streams/operators/poll.js';
export { reuseFor } from './streams/operators/reuse-for.js';
export { type Backoff, retryWithBackoff } from './streams/operators/retry-with-backoff.js';
export { settle, type Settling } from './streams/operators/settle.js';
export { type TakeTurn, takeTurns } from './streams/operators/take-turns.js';
export {
  type Watched,
  type WatchedEvent,
  watchedListing,
  type WatchTiming,
} from './streams/operators/watched-listing.js';

// The model: pods as they should be, as they are, and what follows from both
export * from './model/pod.js';
export * from './model/runtime-pod.js';
export { computePodActions, type PodActionsInput } from './model/compute-pod-actions.js';
export type { ContainerToKill, KillReason, PodActions, ProbeResults } from './model/pod-actions.js';
export { countProbe } from './model/probes/count-probe.js';
export {
  type ProbePace,
  probePace,
  PROBE_FAST_ANNOTATION,
  PROBE_PERIOD_ANNOTATION,
} from './model/probes/probe-pace.js';
export { type ProbeRecord } from './model/probes/probe-record.js';
export { ProbeResultStore } from './model/probes/probe-result-store.js';
export { probeTurn, type ProbeTurn, type ProbeTurnFacts, type ProbeWorkerState } from './model/probes/probe-turn.js';
export { type ProbeResult, type ProbeType, type ProbeWorker, probeWorkersOf } from './model/probes/probe-worker.js';
export { restartVerdict, type RestartVerdict } from './model/restart-policy.js';
export { sandboxChanged, type SandboxVerdict } from './model/sandbox-changed.js';
export { type CrashLoopInput, type CrashLoopVerdict, decideBackOff } from './model/crash-loop-back-off.js';
export { generatePodStatus, type PodStatusInput } from './model/pod-status/generate-pod-status.js';
export { podPhase, type PodPhase, type PodPhaseInput } from './model/pod-status/pod-phase.js';
export { computeQosClass, type QosClass, qosClass } from './model/pod-status/qos.js';
export { type ContainerGcPolicy, DEFAULT_CONTAINER_GC } from './model/container-gc.js';
export { DEFAULT_LOG_ROTATION, type LogRotationPolicy } from './model/log-rotation.js';
export { DEFAULT_IMAGE_GC, type ImageGcPolicy } from './model/images/image-gc.js';
export { lastLogLines, type LogLine, parseLogLine } from './model/cri/log-line.js';
export {
  type PlegCadence,
  type PlegChange,
  type PlegEvent,
  plegEvents,
  type PlegHealth,
  plegHealth,
} from './model/pleg.js';
export { PodWorkerRegistry } from './model/pod-workers/pod-worker-registry.js';
export { foldPodUpdate, type PodUpdate, type PodUpdateType } from './model/pod-workers/pod-update.js';
export { PodManager } from './model/pod-manager.js';
export { PodStatusStore } from './model/pod-status-store.js';
export { WorkQueue } from './model/work-queue.js';

// Images: their names, and who may pull them
export {
  type ImageReference,
  parseImageReference,
  type ParsedImage,
  repositoryOf,
} from './model/images/image-reference.js';
export {
  type DockerConfig,
  parseDockerConfigJson,
  parseDockercfg,
  type RegistryCredential,
} from './model/images/docker-config.js';
export { credentialsFor } from './model/images/keyring.js';
export { type PullCredential, type PullSecret } from './model/images/pull-secret.js';
export { type PulledRecord, type RecordedAccess, type RecordedSecret } from './model/images/pulled-record.js';
export { type ImageVerification } from './model/images/image-verification.js';

// The journal: what happened and why
export type * from './model/journal.js';
export { explainWhy, type Question } from './model/why.js';

// The life of a pod as lanes
export type { Lane, Mark, Timeline, TimelineEntry, TimelinePod } from './model/timeline/lanes.js';
export { type JournalOfPods, timelineOfJournal } from './model/timeline/timeline-of-journal.js';
export { renderText as renderTimelineText, type TextOptions } from './model/timeline/render-text.js';
export { renderSvg as renderTimelineSvg, type SvgOptions } from './model/timeline/render-svg.js';
export { renderPage as renderTimelinePage, type PageOptions } from './model/timeline/render-page.js';

// Recording an agent and playing it again
export { type MakeKubelet, recordKubelet, type RecordOptions } from './recording/record-kubelet.js';
export { type Recording, replay, type ReplayOptions } from './recording/replay.js';
export type { DifferentReplay, ReplayedCause, ReplayResult, SameReplay } from './recording/replay-result.js';
export type { RecordingEntry, RecordingHeader } from './recording/recording-entry.js';
export { RecordingError } from './recording/recording-error.js';
