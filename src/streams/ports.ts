import type { Observable } from 'rxjs';
import type {
  ContainerEventResponse,
  ContainerStatusRequest,
  ContainerStatusResponse,
  CreateContainerRequest,
  CreateContainerResponse,
  DeepPartial,
  ExecSyncRequest,
  ExecSyncResponse,
  ImageFsInfoResponse,
  ImageStatusRequest,
  ImageStatusResponse,
  ListContainersRequest,
  ListContainersResponse,
  ListImagesRequest,
  ListImagesResponse,
  ListPodSandboxRequest,
  ListPodSandboxResponse,
  PodSandboxStatusRequest,
  PodSandboxStatusResponse,
  PullImageRequest,
  PullImageResponse,
  RemoveContainerRequest,
  RemoveImageRequest,
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
  UpdateRuntimeConfigRequest,
  VersionResponse,
} from '../generated/runtime/v1/api.js';
import type { ConfigMap, Secret, Service } from '../model/api/referenced-object.js';
import type { TokenPurpose } from '../model/api/token-request.js';
import type { ApiObject } from '../model/api/api-object.js';
import type { HttpGetAnswer, HttpGetRequest } from '../model/http-get.js';
import type { RegistryCredential } from '../model/images/docker-config.js';
import type { PulledRecord } from '../model/images/pulled-record.js';
import type { PullSecret } from '../model/images/pull-secret.js';
import type { CgroupName } from '../model/cgroups/cgroup-name.js';
import type { CgroupResources } from '../model/cgroups/cgroup-resources.js';
import type { ImageDisk } from '../model/images/image-gc.js';
import type { JournalId, JournalRecord } from '../model/journal.js';
import type { MachineFacts } from '../model/node/machine-facts.js';
import type { CertificateSubject, ClientCertificate } from '../model/certificates/client-certificate.js';
import type { SigningRequestParts } from '../model/certificates/signing-request.js';
import type { Container, Pod, Probe } from '../model/pod.js';
import type { ProbeOutcome } from '../model/probes/probe-outcome.js';
import type { ProbeRecord } from '../model/probes/probe-record.js';
import type { ProbeType } from '../model/probes/probe-type.js';
import type { ProbeWorker } from '../model/probes/probe-worker.js';
import type { RuntimeContainerState } from '../model/runtime-pod.js';

/**
 * A unary CRI call: nothing happens until it is subscribed, it emits one response and completes, and unsubscribing cancels
 * it. Fields that are left out take their protobuf default. Errors: a `CriError` (src/model/cri-error.ts).
 */
export type CriCall<Request, Response> = (request: DeepPartial<Request>) => Observable<Response>;

/** `runtime.v1.RuntimeService`, as much of it as the agent calls. */
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
  readonly createContainer: CriCall<CreateContainerRequest, CreateContainerResponse>;
  readonly startContainer: CriCall<StartContainerRequest, object>;
  readonly stopContainer: CriCall<StopContainerRequest, object>;
  readonly removeContainer: CriCall<RemoveContainerRequest, object>;
  readonly listContainers: CriCall<ListContainersRequest, ListContainersResponse>;
  readonly containerStatus: CriCall<ContainerStatusRequest, ContainerStatusResponse>;
  readonly updateContainerResources: CriCall<UpdateContainerResourcesRequest, object>;
  readonly reopenContainerLog: CriCall<ReopenContainerLogRequest, object>;
  readonly execSync: CriCall<ExecSyncRequest, ExecSyncResponse>;
  /** Emits while the stream lives; errors when it breaks or the runtime does not have it (`unimplemented`). */
  readonly containerEvents: () => Observable<ContainerEventResponse>;
}

/** `runtime.v1.ImageService`, as much of it as the agent calls. */
export interface ImageService {
  readonly listImages: CriCall<ListImagesRequest, ListImagesResponse>;
  readonly imageStatus: CriCall<ImageStatusRequest, ImageStatusResponse>;
  readonly pullImage: CriCall<PullImageRequest, PullImageResponse>;
  readonly removeImage: CriCall<RemoveImageRequest, object>;
  readonly imageFsInfo: CriCall<object, ImageFsInfoResponse>;
}

/** Who may pull what. */
export interface CredentialPorts {
  /**
   * What this node has for a repository such as `docker.io/library/nginx`, in the order in which to try it; emits once.
   * Errors: none; what cannot be read is as if it were not there, and is said in the log.
   */
  readonly nodeCredentials: (repository: string) => Observable<readonly RegistryCredential[]>;
  /**
   * Those secrets that `imagePullSecrets` of the pod names and that there are, in that order; emits once.
   * Errors: the pull fails by them; a secret that cannot be had is better left out.
   */
  readonly pullSecrets: (pod: Pod) => Observable<readonly PullSecret[]>;
}

/**
 * What the agent remembers of images that it has pulled, and of pulls that it has begun: it outlives the agent. Every call is
 * cold. Errors: what cannot be read or written, by its name.
 */
export interface PullRecords {
  /** Emits once; undefined for an image that was never pulled here. */
  readonly pulled: (imageRef: string) => Observable<PulledRecord | undefined>;
  readonly everyPulled: () => Observable<readonly PulledRecord[]>;
  readonly writePulled: (record: PulledRecord) => Observable<never>;
  readonly removePulled: (imageRef: string) => Observable<never>;
  /** Images whose pull was begun, as pods name them. */
  readonly intents: () => Observable<readonly string[]>;
  readonly writeIntent: (image: string) => Observable<never>;
  readonly removeIntent: (image: string) => Observable<never>;
  /** What stands for a credential in a record. */
  readonly hashOf: (credential: RegistryCredential) => string;
}

/** One request to the API server. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** From the root, such as `/api/v1/namespaces/default/pods/web/status`; its parts are escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
  /** Of the body; `application/json` unless given. Patches name theirs. */
  readonly contentType?: string;
}

/** A watch: `query` has everything but `watch=true`. */
export type ApiWatchRequest = Pick<ApiRequest, 'path' | 'query'>;

/** What a watch says: first that the server has answered with a stream, then one message for every line of it. */
export type ApiWatchMessage =
  | { readonly kind: 'opened' }
  | {
      readonly kind: 'event';
      readonly type: 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';
      /** The object; a Status for `ERROR`. */
      readonly object: unknown;
    };

/**
 * The Kubernetes API, as JSON. Nothing is sent until it is subscribed, and unsubscribing aborts it. Waiting, retrying and limits of
 * rate are not here: they are operators over this (src/streams/api).
 */
export interface ApiServer {
  /** Emits the body of a 2xx reply and completes. Errors: `ApiError` (src/model/api/api-error.ts). */
  readonly request: (request: ApiRequest) => Observable<unknown>;
  /**
   * Emits while the stream lives and completes when the server ends it in the middle of nothing. Errors: `ApiError`, for a reply
   * that is no stream, for a connection that breaks and for a line that is not JSON; an `ERROR` of the stream is a message.
   */
  readonly watch: (request: ApiWatchRequest) => Observable<ApiWatchMessage>;
}

/**
 * The objects of the API that pods refer to, as this agent knows them. Only what a registered pod refers to is kept at hand.
 *
 * Source: pkg/kubelet/configmap, pkg/kubelet/secret
 */
export interface PodReferences {
  /** From now on what the pod refers to is kept at hand; a newer spec of the same pod takes the place of the older one. */
  readonly register: (pod: Pod) => void;
  /** The pod is over: what nobody else refers to is forgotten, its tokens too. One that is not registered is fine. */
  readonly unregister: (pod: Pod) => void;
  /**
   * Emits once, as it was last seen. Errors: an `ApiError` NotFound when there is none; another error when that is not known, such
   * as when it cannot be read in time.
   */
  readonly configMap: (namespace: string, name: string) => Observable<ConfigMap>;
  /** The same. */
  readonly secret: (namespace: string, name: string) => Observable<Secret>;
  /** Of all namespaces; undefined until they have been read once. */
  readonly services: () => readonly Service[] | undefined;
}

export type { TokenPurpose };

export interface PodToken {
  readonly token: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * A token of a service account for a pod: emits one that is good for a while, the same as before while that is fresh, and
 * completes. Whoever shows it to a container asks again every now and then. Errors: there is none and none can be had.
 */
export type RequestPodToken = (purpose: TokenPurpose) => Observable<PodToken>;

/** The client certificates of the agent with their keys, on disk. Every call is cold. */
export interface CertificateStore {
  /**
   * Emits once; undefined when there is none. What a crash left unfinished is finished first, or passed over.
   * Errors: the folder cannot be read, or what is there is no certificate with its key; by the path.
   */
  readonly current: () => Observable<ClientCertificate | undefined>;
  /**
   * Puts the certificate chain and the key in the place of what is there, for good, and emits what it is. Errors: as above, then
   * what was there is still there; `CertificateRefused` (src/model/certificates/certificate-refused.ts) when the certificate is not
   * one of the key, or has ended already.
   */
  readonly replace: (certificatePem: string, keyPem: string) => Observable<ClientCertificate>;
  /** The key of a first request that is not answered yet, across restarts; emits once. */
  readonly pendingKey: () => Observable<string | undefined>;
  readonly keepPendingKey: (keyPem: string) => Observable<never>;
  readonly forgetPendingKey: () => Observable<never>;
}

/** Private keys and what is signed with them. Keys are PEM. Every call is cold. */
export interface CertificateKeys {
  /** Emits a new one: ECDSA over P-256. */
  readonly newKey: () => Observable<string>;
  /** Emits a request for a certificate of that key. Errors: what is given is no private key that this node can use. */
  readonly signingRequest: (keyPem: string, subject: CertificateSubject) => Observable<SigningRequestParts>;
}

/**
 * What the agent knew last of the cluster, kept across its own restarts so that it can go on while the API server is away. Every call is
 * cold. It is for this node of this cluster: what was kept for another one is as if it were not there.
 */
export interface LastKnown {
  /** Emits once; undefined when nothing is kept, or nothing that can be read. Errors: Node's own, which name the path. */
  readonly readPods: () => Observable<KnownPods | undefined>;
  /** Replaces all pods at once, or leaves them as they are and errors; completes when they are on disk. */
  readonly writePods: (pods: KnownPods) => Observable<never>;
  /** ConfigMaps, Secrets and lists, by what `lastKnownKey` gives for them; emits once. Errors: none, what cannot be read is left out. */
  readonly readObjects: () => Observable<ReadonlyMap<string, ApiObject>>;
  /** Keeps one of them, or none if its kind is not to be kept. Errors: Node's own, which name the path. */
  readonly writeObject: (key: string, object: ApiObject) => Observable<never>;
  /** A missing one is fine. */
  readonly removeObject: (key: string) => Observable<never>;
}

/** The pods of this node as the API server said last. */
export interface KnownPods {
  readonly pods: readonly Pod[];
  /** As of which they are. */
  readonly resourceVersion: string;
  /** When that was, in Unix milliseconds. */
  readonly at: number;
}

/** Writes one journal entry and names it, so that later entries can name it as their cause. Never fails, never waits. */
export type RecordJournal = (record: JournalRecord) => JournalId;

/** An event in the sense of the Kubernetes API, about the node, a pod, or one container of a pod. */
export interface NodeAgentEvent {
  /** Absent for an event about the node. */
  readonly pod?: Pod;
  readonly container?: string;
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly causes: readonly JournalId[];
}
export type RecordEvent = (event: NodeAgentEvent) => void;

/**
 * Unix milliseconds as the runtime and the API see them. It may jump, so it only ever meets times that come from outside;
 * waiting and freshness are measured by the scheduler.
 */
export type WallClock = () => number;

/** Uniform in [0, 1). */
export type Random = () => number;

/** What the agent asks of the node's file system. Every call is cold and completes when it is done. */
export interface NodeFiles {
  /** Makes the directory and its parents; an existing one is fine. Mode applies to what is made. */
  readonly makeDirectory: (path: string, mode: number) => Observable<never>;
  /** Names in the directory; none when it does not exist. */
  readonly listDirectory: (path: string) => Observable<readonly string[]>;
  /** Removes the file or tree; a missing one is fine. */
  readonly remove: (path: string) => Observable<never>;
  /** Removes a container's log with everything that was rotated away from it (`<path>*`). */
  readonly removeLog: (path: string) => Observable<never>;
  /** Makes a symbolic link at `path`, with the folder that it is in, unless nothing is at `target`. */
  readonly link: (target: string, path: string) => Observable<never>;
  /** Names of the symbolic links in the directory that lead nowhere; none when it does not exist. */
  readonly danglingLinks: (directory: string) => Observable<readonly string[]>;
}

/** The handler of the runtime behind a RuntimeClass of that name; undefined when there is no such class. */
export type RuntimeClasses = (name: string) => string | undefined;

export interface HttpRequestOptions {
  /** For everything together: connection, redirects, headers and body. No limit unless given. */
  readonly timeoutMs?: number;
  /** The body is read so far and no further. */
  readonly maxBodyBytes: number;
}

/**
 * One GET to a server that a pod names: emits the answer, whatever its status, and completes. Unsubscribing aborts it. Certificates
 * are not verified, there is no proxy, a connection is used once, and redirects are followed within the host of the request.
 *
 * Errors: `HttpFailure` (src/model/http-failure.ts).
 * Source: pkg/probe/http/http.go
 */
export type HttpRequest = (request: HttpGetRequest, options: HttpRequestOptions) => Observable<HttpGetAnswer>;

/** How a probe asks: the field of the API's probe that says it. */
export type ProbeHandlerKind = 'exec' | 'httpGet' | 'tcpSocket' | 'grpc';

/** What one probe asks, and whom. */
export interface ProbeTarget {
  /** Which of the probes of the container it is. */
  readonly type: ProbeType;
  readonly kind: ProbeHandlerKind;
  /** As the spec has it, with its defaults; its field `kind` is there. */
  readonly probe: Probe;
  readonly pod: Pod;
  /** The one that is probed: its ports have names, its env expands the command of `exec`. */
  readonly container: Container;
  /** As the runtime knows the instance. */
  readonly containerId: string;
  /** Of the pod, or of the node for a pod on its network; empty while there is none. */
  readonly podIp: string;
  /** For all of this one probe; at least 1. */
  readonly timeoutSeconds: number;
}

export type { ProbeOutcome };

/** Asks containers how they are. */
export interface ProbeHandlers {
  /**
   * Asks once, without a retry: nothing happens until it is subscribed, it emits one outcome and completes, and unsubscribing
   * gives up. Errors: nothing was found out about the container, such as when the runtime does not answer; a `ProbeErrored`
   * (src/model/probes/probe-errored.ts) says what the kubelet calls the state. A far side that refuses or is late is a failure
   * instead.
   */
  readonly probe: (target: ProbeTarget) => Observable<ProbeOutcome>;
}

/** Where a server that a pod names listens; an IPv6 address without brackets. */
export interface ServerAddress {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a TCP connection, closes it and completes. Nothing happens until it is subscribed, nothing is sent, and unsubscribing gives
 * up, however far it got. Errors: why there was no connection, as Go says it: `dial tcp 10.0.0.1:80: connect: connection refused`.
 */
export type TcpConnect = (address: ServerAddress) => Observable<never>;

export interface HealthCheckRequest extends ServerAddress {
  /** Empty for the server as a whole. */
  readonly service: string;
  /** How the agent names itself. */
  readonly userAgent: string;
  /** What the server is told to take at most; nobody here waits for it. */
  readonly timeoutMs: number;
}

/** Speaking HTTP/2, then the name of the status: `SERVING`. */
export type HealthCheckProgress =
  { readonly kind: 'connected' } | { readonly kind: 'answered'; readonly status: string };

/**
 * Asks a server by the health protocol of gRPC, without TLS and over a connection of its own: says when there is one, then what
 * the answer is, and completes. Unsubscribing closes the connection, however far it got. Errors: `HealthFailure`
 * (src/model/probes/health-failure.ts).
 */
export type CheckHealth = (request: HealthCheckRequest) => Observable<HealthCheckProgress>;

/** What the agent remembers of the probes of instances, across its own restarts. Every call is cold. */
export interface ProbeRecords {
  /** Emits once what was written last; none when nothing was. Errors: it cannot be read; then it is as if nothing was. */
  readonly read: () => Observable<readonly ProbeRecord[]>;
  /** Replaces all of them at once, or leaves them as they are and errors. */
  readonly write: (records: readonly ProbeRecord[]) => Observable<never>;
}

/** What the agent asks of the files that it lends to containers. Every call is cold. Errors: Node's own, which name the path. */
export interface PodFiles {
  /**
   * Makes or rewrites the file and completes; the mode holds whatever the umask. It stays the same file, so that whoever has it
   * mounted sees the new content, and one that has that content already is not touched.
   */
  readonly write: (path: string, content: string, mode: number) => Observable<never>;
  /** The content of the file. */
  readonly read: (path: string) => Observable<string>;
  /** The last `maxBytes` of a regular file, or all of it; `undefined` when there is none. Never waits for a writer. */
  readonly readTail: (path: string, maxBytes: number) => Observable<Uint8Array | undefined>;
  /** Where something is mounted at or below the directory, as this process sees it; nothing when it does not exist. */
  readonly mountsBelow: (directory: string) => Observable<readonly string[]>;
}

/**
 * The cgroups of this machine, made the way the runtime makes its own. Calls are cold; what a cgroup needs on the way up is
 * made with it. No process is ever put into one.
 *
 * Errors: Node's own and those of the driver, which name the path or the unit.
 */
export interface Cgroups {
  /** Of the kernel; 1 also where cgroup v2 stands beside it without controllers. */
  readonly version: 1 | 2;
  /** Bytes per page of what can be limited; none where the kernel does not limit huge pages by cgroup. */
  readonly hugePageSizes: readonly bigint[];
  /** Every CPU of the machine, such as `0-3`, where the driver has to be told; else absent. */
  readonly allCpus?: string;
  /** As the runtime is told: a path, whatever the driver. */
  readonly pathOf: (name: CgroupName) => string;
  /** The name of a path that somebody has configured. */
  readonly nameOf: (path: string) => CgroupName;
  /** What the cgroup lacks to be there, as paths; none when it is there. */
  readonly missing: (name: CgroupName) => Observable<readonly string[]>;
  /** Makes it, or completes it. One text for each setting that the kernel refuses; these do not fail the call. */
  readonly create: (name: CgroupName, resources: CgroupResources) => Observable<string>;
  /** Changes the settings. Errors: also when the kernel refuses one, after all were tried. */
  readonly update: (name: CgroupName, resources: CgroupResources) => Observable<never>;
  /** The cgroups directly below; none when it does not exist. */
  readonly children: (name: CgroupName) => Observable<readonly CgroupName[]>;
  /** Sends SIGKILL to every process in it and below. They may take a moment to be gone. */
  readonly kill: (name: CgroupName) => Observable<never>;
  /** Removes it and everything below; a missing one is fine. Errors: also while processes are in it. */
  readonly remove: (name: CgroupName) => Observable<never>;
}

/** The files of container logs on the node's disk, by their paths. Every call is cold and completes when it is done. */
export interface LogFiles {
  /** Bytes in a file; undefined when there is none. */
  readonly size: (path: string) => Observable<bigint | undefined>;
  /** What was rotated away from a log: `<path>.*`. */
  readonly rotated: (path: string) => Observable<readonly string[]>;
  readonly rename: (from: string, to: string) => Observable<never>;
  /** Puts `<path>.gz` in the place of the file. Whenever it is broken off, the file or the whole of its successor is there. */
  readonly compress: (path: string) => Observable<never>;
  /** A missing one is fine. */
  readonly remove: (path: string) => Observable<never>;
  /** Minutes that the node's time is ahead of UTC at a moment in Unix milliseconds. */
  readonly utcOffsetMinutes: (at: number) => number;
}

/**
 * How large the file system of a path is, and how much of it an ordinary user could still fill; emits once.
 * Errors: there is no such path.
 */
export type DiskSpace = (path: string) => Observable<ImageDisk>;

/** What the machine says of itself now; emits once. Errors: Node's own, where what every machine has cannot be read. */
export type ReadMachine = () => Observable<MachineFacts>;

/** The addresses of a host, as the system's resolver knows it; emits once. Errors: it knows none, or does not answer. */
export type LookupHost = (name: string) => Observable<readonly string[]>;

/** Structured logging: a level per method, fields first so that a message never hides them. */
export interface Logger {
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

/** `kubelet_*` container types. */
export type MetricContainerType = 'container' | 'init_container' | 'ephemeral_container';

/** Pods per state of their worker. Source: pkg/kubelet/metrics/metrics.go WorkingPodCount. */
export interface WorkingPods {
  readonly lifecycle: 'sync' | 'terminating' | 'terminated';
  readonly config: 'desired' | 'orphan' | 'runtime_only';
  readonly static: '' | 'true' | 'unknown';
  readonly count: number;
}

export interface PodCount {
  readonly static: number;
  readonly other: number;
}

/** Source: pkg/kubelet/metrics/metrics.go NodeStartupDuration and its parts. */
export type NodeStartupPart = 'pre-kubelet' | 'pre-registration' | 'registration' | 'post-registration' | 'total';

/**
 * Why the API server will not have an event: too many about one object, too many waiting, nobody answered for too long, or the
 * server refused it.
 */
export type EventDropReason = 'spam' | 'overflow' | 'unanswered' | 'refused';

/** What the loop measures, under the kubelet's metric names. Every call is cheap, synchronous and never fails. */
export interface Metrics {
  /** One CRI call, when it ended. `operation` is the kubelet's name of it, such as `create_container`. */
  readonly runtimeOperation: (operation: string, seconds: number, failed: boolean) => void;
  /** One RunPodSandbox call: `kubelet_run_podsandbox_*`. `runtimeHandler` is empty for the default. */
  readonly runPodSandbox: (runtimeHandler: string, seconds: number, failed: boolean) => void;
  /** One attempt to create the sandbox of a pod: `kubelet_started_pods_*`. */
  readonly podStarted: (failed: boolean) => void;
  /** One attempt to start a container; `failure` is the waiting reason, such as `ErrImagePull`. */
  readonly containerStarted: (type: MetricContainerType, failure?: string) => void;
  readonly containerTerminated: (type: MetricContainerType, exitCode: number, reason: string) => void;
  /** One pass of a pod's worker. */
  readonly podWorker: (operation: 'create' | 'update' | 'sync' | 'kill' | 'terminated', seconds: number) => void;
  /** From a pod being seen first to its worker starting. */
  readonly podWorkerStart: (seconds: number) => void;
  /** From a pod being seen first to its containers running. */
  readonly podStart: (seconds: number) => void;
  /** Regular containers of a pod that is let start. */
  readonly containersPerPod: (count: number) => void;
  /** One listing of all pods. `intervalSeconds` is from start to start, absent for the first; `at` is Unix milliseconds. */
  readonly relist: (relist: {
    readonly seconds: number;
    readonly intervalSeconds?: number;
    readonly at: number;
  }) => void;
  /** One listing of one pod. */
  readonly podRelist: (seconds: number) => void;
  /** A read of one pod that takes long, while it is under way: `rx_kubelet_late_pod_reads_total`. */
  readonly podReadLate: () => void;
  readonly plegDiscarded: () => void;
  /** One container event; seconds since the runtime made it: `kubelet_evented_pleg_connection_latency_seconds`. */
  readonly runtimeEvent: (seconds: number) => void;
  readonly runtimeEventsConnected: () => void;
  readonly runtimeEventsBroken: () => void;
  /** What the newest relist saw: pods with a ready sandbox, containers per state. */
  readonly running: (pods: number, containers: Readonly<Record<RuntimeContainerState, number>>) => void;
  /** What housekeeping counted. */
  readonly pods: (counts: {
    readonly desired: PodCount;
    readonly active: PodCount;
    readonly working: readonly WorkingPods[];
  }) => void;
  readonly orphanedRuntimePod: () => void;
  readonly podRestarted: (isStatic: boolean) => void;
  /** One image that garbage collection has removed, for its age or to make room. */
  readonly imageCollected: (reason: 'age' | 'space') => void;
  /** One probe that found something out, and the seconds that it took. */
  readonly probe: (worker: ProbeWorker, result: 'success' | 'failure', seconds: number) => void;
  /** The worker of a probe has ended, and its numbers with it. */
  readonly probeWorkerEnded: (worker: ProbeWorker) => void;
  /** Events that wait for the API server: `rx_kubelet_queued_events`. */
  readonly eventsQueued: (count: number) => void;
  /** An event that the API server will not have, and why: `rx_kubelet_dropped_events_total`. */
  readonly eventDropped: (reason: EventDropReason) => void;
  /**
   * Until when the client certificate holds, Unix milliseconds, which is what `kubelet_certificate_manager_client_ttl_seconds` counts
   * down to; none when there is no certificate.
   */
  readonly clientCertificate: (notAfter: number | undefined) => void;
  /** An attempt to get a client certificate has failed: `kubelet_certificate_manager_client_expiration_renew_errors`. */
  readonly clientCertificateFailed: () => void;
  /** One attempt to ask the API server: `rest_client_requests_total`. `code` is absent when there was no reply. */
  readonly apiAttempt: (method: string, host: string, code: number | undefined) => void;
  /** One request that is no watch, with everything that it waited for: `rest_client_request_duration_seconds`. */
  readonly apiRequest: (method: string, host: string, seconds: number) => void;
  /** What an attempt waited for its turn: `rest_client_rate_limiter_duration_seconds`. */
  readonly apiThrottled: (method: string, host: string, seconds: number) => void;
  /** From the first change of a pod's status that the API did not have to its having it: `kubelet_pod_status_sync_duration_seconds`. */
  readonly podStatusSynced: (seconds: number) => void;
  /** Mirrors of static pods in the API: `kubelet_mirror_pods`. */
  readonly mirrorPods: (count: number) => void;
  /** From the creation of a pod to the watch showing that it runs: `kubelet_pod_start_total_duration_seconds`. */
  readonly podStartObserved: (seconds: number) => void;
  /** The same without image pulls and init containers: `kubelet_pod_start_sli_duration_seconds`. */
  readonly podStartWithoutPulls: (seconds: number) => void;
  /** The same of the first pod with a network of its own: `kubelet_first_network_pod_start_sli_duration_seconds`. */
  readonly firstNetworkPodStart: (seconds: number) => void;
  /** How long a part of the start of a new node took: `kubelet_node_startup_*`; `total` is from the start of the machine. */
  readonly nodeStartup: (part: NodeStartupPart, seconds: number) => void;
}
