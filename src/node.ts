// What connects an agent to this machine: sockets, files, processes, clocks. Everything here needs Node.

export { type NodePortsOptions, withNodePorts } from './with-node-ports.js';
export { type NodeSettings, readNodeFacts } from './host/read-node-facts.js';
export { monotonicScheduler } from './host/monotonic-scheduler.js';
export { nodeFiles } from './host/node-files.js';
export { logFiles } from './host/log-files.js';
export { diskSpace } from './host/disk-space.js';
export { podFiles } from './host/pod-files.js';
export { probeRecordFiles } from './host/probe-record-files.js';
export { pullRecordFiles } from './images/pull-record-files.js';
export { type DockerConfigPlace, dockerConfigPlaces, nodeCredentials } from './images/node-credentials.js';
export { checkHealth } from './network/check-health.js';
export { httpRequest, type HttpRequestLimits } from './network/http-request.js';
export { tcpConnect } from './network/tcp-connect.js';
export { type CriClient, criClient, type CriClientOptions } from './runtime/cri-client.js';
export { type EmbeddedRuntime, type EmbeddedRuntimeOptions, startEmbeddedRuntime } from './runtime/embedded/server.js';
export { type FileSource, fileSource } from './sources/file-source.js';
export { type HttpSource, httpSource } from './sources/http-source.js';
export { createJournal, type Journal, type JournalOptions } from './journal/journal-writer.js';
export { type JournalContents, readJournal } from './journal/journal-reader.js';
export { createMetrics, type MeteredRegistry, type MetricsOptions } from './server/metrics.js';
export { localServer, type LocalServerOptions, type ServerEvent } from './server/local-server.js';
export type { HealthCheck, HealthChecks } from './server/health.js';
export { createRecordingFile, type RecordingFile, type RecordingFileOptions } from './recording/recording-file.js';
export { openRecording, type RecordingReader } from './recording/recording-reader.js';
