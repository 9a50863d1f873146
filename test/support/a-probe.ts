import type { ContainerStatus, Pod, PodStatus, Probe } from '../../src/model/pod/pod.js';
import type { ProbePace } from '../../src/model/probes/probe-pace.js';
import type { ProbeTurnFacts } from '../../src/model/probes/probe-turn.js';
import { probeOf, type ProbeType, type ProbeWorker, probeWorkersOf } from '../../src/model/probes/probe-worker.js';
import { aPod, type PodSketch } from './a-pod.js';

/** A pod whose container `main` has such a probe. */
export const aProbedPod = (
  type: ProbeType,
  probe: Probe = { tcpSocket: { port: 80 } },
  { spec, ...sketch }: PodSketch = {},
): Pod =>
  aPod({ ...sketch, spec: { containers: [{ name: 'main', image: 'host', [`${type}Probe`]: probe }], ...spec } });

/** The worker of that probe, at the pace that matters to a test. */
export const aProbeWorker = (
  type: ProbeType,
  pace: Partial<ProbePace> = {},
  pod: Pod = aProbedPod(type),
): ProbeWorker => {
  const worker = probeWorkersOf(pod).find((each) => each.type === type && probeOf(each.container, type));
  if (!worker) throw new Error(`the pod has no ${type} probe`);
  const { periodMs = worker.pace.periodMs } = pace;
  return { ...worker, pace: { ...worker.pace, untilSuccessMs: periodMs, ...pace } };
};

/** A status of `main`, running by default. */
export const aProbedStatus = (main: Partial<ContainerStatus> = {}, status: Partial<PodStatus> = {}): PodStatus => ({
  phase: 'Running',
  podIP: '10.0.0.1',
  containerStatuses: [
    {
      ...{ name: 'main', image: 'host', imageID: '', restartCount: 0, ready: false, started: true },
      ...{ containerID: 'fake://c1', state: { running: { startedAt: '1970-01-01T00:00:00Z' } } },
      ...main,
    },
  ],
  ...status,
});

/** An agent that has been there for a long time, and a container that started after it. */
export const someFacts = (facts: Partial<ProbeTurnFacts> = {}): ProbeTurnFacts => ({
  status: aProbedStatus(),
  startedAt: () => 100_000,
  resultOf: () => undefined,
  now: 100_000,
  wallNow: 100_000,
  agentStartedAt: 0,
  heldUntil: 0,
  ...facts,
});
