import { Counter, Gauge, Registry } from 'prom-client';
import { send } from './http-routes.js';
import type { ParameterRoute } from './parameter-routes.js';

/** The metrics of health checks, in a registry of their own. */
export interface HealthSlis {
  readonly registry: Registry;
  /** Counts one check of a group. */
  readonly observe: (name: string, isHealthy: boolean) => void;
  /** Forgets all checks. */
  readonly reset: () => void;
}

/** Source: staging/src/k8s.io/component-base/metrics/prometheus/slis/metrics.go */
export const healthSlis = (): HealthSlis => {
  const registry = new Registry();
  const registers = [registry];
  const state = new Gauge({
    name: 'kubernetes_healthcheck',
    help: 'Whether the last run of a health check succeeded.',
    labelNames: ['name', 'type'],
    registers,
  });
  const total = new Counter({
    name: 'kubernetes_healthchecks_total',
    help: 'Runs of health checks by their result.',
    labelNames: ['name', 'type', 'status'],
    registers,
  });
  return {
    registry,
    observe: (name, isHealthy) => {
      state.set({ name, type: 'healthz' }, isHealthy ? 1 : 0);
      total.inc({ name, type: 'healthz', status: isHealthy ? 'success' : 'error' });
    },
    reset: () => registry.resetMetrics(),
  };
};

/**
 * The route of these metrics. DELETE forgets all checks.
 *
 * Source: pkg/kubelet/server/server.go InstallAuthNotRequiredHandlers, with SLIMetricsWithReset
 */
export const sliRoutes = ({ registry, reset }: HealthSlis): readonly ParameterRoute[] => [
  {
    methods: ['GET'],
    path: '/metrics/slis',
    handle: async (_, response) =>
      send(response, { status: 200, type: registry.contentType, body: await registry.metrics() }),
  },
  {
    methods: ['DELETE'],
    path: '/metrics/slis',
    handle: (_, response) => {
      reset();
      send(response, { status: 200, body: 'metrics reset\n' });
    },
  },
];
