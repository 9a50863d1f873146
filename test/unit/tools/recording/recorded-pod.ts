import type {
  Plain,
  RecordingEntry,
  RecordingHeader,
} from '../../../../src/tools/recording/entries/recording-entry.js';

export const web = { uid: 'u1', namespace: 'default', name: 'web-n' };

/** A second after noon of the first day of 2026, by both clocks. */
export const BEGIN = Date.UTC(2026, 0, 1, 12, 0, 1);

export const header: RecordingHeader = {
  ...{ kind: 'recording', format: 1, by: 'rx-kubelet test', startedAt: BEGIN },
  ...{ facts: { node: { name: 'n' } }, options: {}, code: [], absent: [], sources: ['file'] },
};

const exec = { exec: { command: ['true'] } };
const manifest: Plain = {
  metadata: { ...web },
  spec: {
    containers: [
      { name: 'app', readinessProbe: exec },
      { name: 'two', readinessProbe: exec, livenessProbe: exec },
    ],
  },
};
const probed = (container: string, type: string) => ({
  type,
  kind: 'exec',
  pod: 'u1',
  container,
  containerId: 'c1',
  podIp: '',
});

/** A pod that is added, made and started, probed, and found by a relist; a call is under way at the end. */
export const recordedPod: readonly RecordingEntry[] = [
  { kind: 'made', at: 0, wallOffset: 0.5 },
  { kind: 'started', at: 0 },
  { kind: 'call', call: 1, port: 'sources.file', args: [] },
  { kind: 'call', call: 2, port: 'runtime.listPodSandbox', args: [] },
  { kind: 'timer', timer: 1, delayMs: 1000 },
  { kind: 'reply', call: 1, at: 100, value: { kind: 'set', pods: [manifest] } },
  { kind: 'journal', id: 'r-1', record: { kind: 'config', source: 'file', op: 'ADD', pod: web, causes: [] } },
  {
    kind: 'call',
    call: 3,
    port: 'runtime.createContainer',
    args: [{ podSandboxId: 'u1', config: { metadata: { name: 'app' } } }],
  },
  { kind: 'reply', call: 3, at: 130, value: { containerId: 'c1' } },
  { kind: 'completed', call: 3, at: 130 },
  { kind: 'call', call: 4, port: 'runtime.containerStatus', args: [{ containerId: 'c1' }] },
  { kind: 'failed', call: 4, at: 140, error: { $error: { name: 'Error', message: 'broken' } } },
  { kind: 'fired', timer: 1, at: 1000 },
  { kind: 'call', call: 5, port: 'probeHandlers.probe', args: [probed('app', 'readiness')] },
  { kind: 'reply', call: 5, at: 1020, value: { result: 'failure', output: 'no' } },
  { kind: 'completed', call: 5, at: 1020 },
  { kind: 'call', call: 6, port: 'probeHandlers.probe', args: [probed('two', 'liveness')] },
  { kind: 'reply', call: 6, at: 1030, value: { result: 'warning', output: 'well' } },
  {
    ...{ kind: 'told', port: 'recordEvent' },
    args: [{ pod: web, container: 'app', type: 'Normal', reason: 'Started', message: 'it did', causes: ['r-1'] }],
  },
  { kind: 'call', call: 7, port: 'runtime.stopContainer', args: [{ containerId: 'c1' }] },
  { kind: 'fired', timer: 2, at: 3000, wallOffset: 60_000 },
];
