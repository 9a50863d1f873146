import { Gauge, type Registry } from 'prom-client';

/**
 * The feature gates that are on. They do not change while the agent runs.
 *
 * Source: staging/src/k8s.io/component-base/metrics/prometheus/feature/metrics.go
 */
export const registerFeatureGates = (
  registry: Registry,
  gates: readonly { readonly name: string; readonly stage: string; readonly isOn: boolean }[],
): void => {
  const enabled = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature gate is on, with its stage; a blank stage is generally available.',
    labelNames: ['name', 'stage'],
    registers: [registry],
  });
  for (const { name, stage, isOn } of gates) enabled.set({ name, stage }, isOn ? 1 : 0);
};
