import { Counter, Histogram, Registry } from 'prom-client';
import { PROBE_TITLES } from '../../model/probes/probe-event.js';
import type { ProbeWorker } from '../../model/probes/probe-worker.js';
import type { Metrics } from '../../streams/ports/metrics.js';

const RESULTS = { success: 'successful', failure: 'failed' } as const;

/**
 * The metrics of probes in a registry of their own; the series of a worker are removed with it. Durations cover
 * successful probes only. The labels do not contain the UID of the pod: pods of one name share them.
 *
 * Source: pkg/kubelet/prober/prober_manager.go, ProberResults and ProberDuration
 */
export const probeMetrics = (): {
  readonly registry: Registry;
  readonly metrics: Pick<Metrics, 'probe' | 'probeWorkerEnded'>;
} => {
  const registry = new Registry();
  const registers = [registry];
  const total = new Counter({
    name: 'prober_probe_total',
    help: 'Probes of containers by their result.',
    labelNames: ['probe_type', 'result', 'container', 'pod', 'namespace', 'pod_uid'],
    registers,
  });
  const seconds = new Histogram({
    name: 'prober_probe_duration_seconds',
    help: 'Seconds that successful probes of containers took.',
    labelNames: ['probe_type', 'container', 'pod', 'namespace'],
    registers,
  });
  return {
    registry,
    metrics: {
      probe: (worker, result, took) => {
        const labels = labelsOf(worker);
        total.inc({ ...labels, result: RESULTS[result], pod_uid: worker.pod.metadata.uid });
        if (result === 'success') seconds.observe(labels, took);
      },
      probeWorkerEnded: (worker) => {
        const labels = labelsOf(worker);
        for (const result of Object.values(RESULTS)) {
          total.remove({ ...labels, result, pod_uid: worker.pod.metadata.uid });
        }
        seconds.remove(labels);
      },
    },
  };
};

const labelsOf = ({ type, container, pod: { metadata } }: ProbeWorker) => ({
  probe_type: PROBE_TITLES[type],
  container: container.name,
  pod: metadata.name,
  namespace: metadata.namespace,
});
