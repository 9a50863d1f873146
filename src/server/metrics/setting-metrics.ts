import { Gauge, type Registry } from 'prom-client';

/** Settings that do not change while the agent runs. */
export interface Settings {
  /** Undefined without cgroups; then it has no series. */
  readonly cgroupVersion: 1 | 2 | undefined;
  /** `cri` where the runtime is asked for the metrics of pods and containers, under the kubelet's name for each. */
  readonly metricsProvider: 'cadvisor' | 'cri';
}

/** Source: pkg/kubelet/metrics/metrics.go CgroupVersion, MetricsProvider */
export const registerSettings = (registry: Registry, { cgroupVersion, metricsProvider }: Settings): void => {
  const registers = [registry];
  if (cgroupVersion !== undefined) {
    new Gauge({ name: 'kubelet_cgroup_version', help: 'The version of cgroups, 1 or 2.', registers }).set(
      cgroupVersion,
    );
  }
  new Gauge({
    name: 'kubelet_metrics_provider',
    help: 'Where the metrics of pods and containers are taken from: cadvisor is the cgroups, cri the runtime; always 1.',
    labelNames: ['provider'],
    registers,
  }).set({ provider: metricsProvider }, 1);
};
