// The adapters of an agent to this machine: sockets, files, processes, clocks. All of them need Node.js.

export { type ClientCalls, type NodePortsOptions, withNodePorts } from './with-node-ports.js';
export type { MemoryQosSettings } from './model/cgroups/memory-qos.js';
export { type NodeSettings, readNodeFacts, type RuntimeFacts } from './host/facts/read-node-facts.js';
export { kubeConfigIdentity, type LoadedKubeConfig } from './kube-api/kube-config-identity.js';
export { readKubeconfig } from './kube-api/kubeconfig.js';
export type { ApiIdentity, IdentityUser, ExecPlugin, Pem } from './kube-api/api-identity.js';
export { type KubeApi, kubeApi, type KubeApiOptions } from './kube-api/kube-api.js';
export { podCertificateKeys } from './kube-api/pod-certificate-keys.js';
export { machineFacts } from './host/facts/machine-facts.js';
export { lastKnownFiles, type LastKnownPlace } from './host/files/last-known-files.js';
export { lookupHost } from './network/lookup-host.js';
export { monotonicScheduler } from './host/monotonic-scheduler.js';
export { nodeFiles } from './host/files/node-files.js';
export { logFiles } from './host/logs/log-files.js';
export { logReading } from './host/logs/log-reading.js';
export { diskSpace } from './host/facts/disk-space.js';
export { podFiles } from './host/files/pod-files.js';
export { volumeFiles, type VolumeFilesOptions } from './host/volumes/volume-files.js';
export { pullRecordFiles } from './images/pull-record-files.js';
export { type DockerConfigPlace, dockerConfigPlaces, nodeCredentials } from './images/node-credentials.js';
export { checkHealth } from './network/check-health.js';
export type { HttpRequestLimits } from './network/http-exchange.js';
export { httpRequest } from './network/http-request.js';
export { tcpConnect } from './network/tcp-connect.js';
export { type CriClient, criClient, type CriClientOptions } from './runtime/cri-client.js';
export type { RuntimeStats } from './streams/ports/runtime-stats.js';
export type { StreamingService } from './streams/ports/streaming-service.js';
export { type FileSource, fileSource } from './sources/file-source.js';
export { type HttpSource, httpSource } from './sources/http-source.js';
export type { HttpHeaders } from './sources/http-get.js';
export { createJournal, type Journal, type JournalOptions } from './journal/journal-writer.js';
export { type JournalContents, readJournal } from './journal/journal-reader.js';
export { createMetrics, type MeteredRegistry, type MetricsOptions } from './server/metrics/metrics.js';
export type { CountRequests } from './server/metrics/request-metrics.js';
export {
  createRecordingFile,
  type RecordingFile,
  type RecordingFileOptions,
} from './tools/recording/file/recording-file.js';
export { openRecording, type RecordingReader } from './tools/recording/file/recording-reader.js';
