import type { RequestListener } from 'node:http';
import type { Registry } from 'prom-client';
import type { RunningPod } from '../../model/pleg/running-pods.js';
import type { Pod } from '../../model/pod/pod.js';
import { disabledEndpoint, type EndpointSwitches } from '../../model/server/disabled-endpoint.js';
import { requestPath } from '../../model/server/request-path.js';
import type { HealthSlis } from './health-slis.js';
import { allHealth, type HealthChecks, log, oneHealth, ping } from './health.js';
import type { NodeStats } from '../../streams/ports/node-stats.js';
import { type Answer, answerBy, type Routes, send } from './http-routes.js';
import { answerByParameters, type ParameterRoute } from './parameter-routes.js';
import { statsRoutes } from './stats-routes.js';

export interface NodeRoutesOptions {
  readonly pods: () => readonly Pod[];
  readonly metrics: Registry;
  /** The registry of `/metrics/probes`; without one the path does not exist. */
  readonly probeMetrics?: Registry | undefined;
  /** The metrics of health checks, of `/metrics/slis`; without them the path does not exist. */
  readonly slis?: HealthSlis | undefined;
  /** The figures of the node; without them their paths do not exist. */
  readonly stats?: NodeStats | undefined;
}

/** `/pods` and the metrics. */
export const nodeRoutes = ({ pods, metrics, probeMetrics, stats }: NodeRoutesOptions): Routes => ({
  '/pods': () => podList(pods()),
  '/metrics': metricsOf(metrics),
  ...(probeMetrics && { '/metrics/probes': metricsOf(probeMetrics) }),
  ...(stats && statsRoutes(stats)),
});

/** `/healthz` with one path below it for each check, and for `ping` and `log`. */
export const healthRoutes = (healthChecks: HealthChecks, slis?: Pick<HealthSlis, 'observe'>): Routes => {
  const checks: HealthChecks = { ping, log, ...healthChecks };
  return {
    '/healthz': ({ url = '/' }) => allHealth(checks, new URL(url, 'http://local').searchParams, slis?.observe),
    ...Object.fromEntries(Object.entries(checks).map(([name, check]) => [`/healthz/${name}`, () => oneHealth(check)])),
  };
};

export interface DebugView {
  readonly runningPods: () => readonly RunningPod[];
  /** The configuration in effect, without secrets. */
  readonly configz: () => unknown;
}

/** The paths that `enableDebuggingHandlers` turns off. */
export const debugRoutes = ({ runningPods, configz }: DebugView): Routes => ({
  '/runningpods': () => podList(runningPods()),
  '/configz': () => json({ kubeletconfig: configz() }),
});

/** Replies by the routes, and with 405 to endpoints that are turned off. */
export const answerUnlessDisabled = (
  routes: Routes,
  switches: EndpointSwitches,
  paths: readonly ParameterRoute[] = [],
): RequestListener => {
  const answer = answerByParameters(paths, answerBy(routes));
  return (request, response) => {
    const text = disabledEndpoint(requestPath(request.url ?? '/') ?? '/', switches);
    if (text === undefined) answer(request, response);
    else send(response, { status: 405, body: text });
  };
};

/** An empty list is null, as Go encodes it. */
const podList = (items: readonly object[]): Answer =>
  json({ kind: 'PodList', apiVersion: 'v1', metadata: {}, items: items.length === 0 ? null : items });

const json = (value: unknown): Answer => ({
  status: 200,
  type: 'application/json',
  body: `${JSON.stringify(value)}\n`,
});

const metricsOf =
  (registry: Registry): Routes[string] =>
  async () => ({ status: 200, type: registry.contentType, body: await registry.metrics() });
