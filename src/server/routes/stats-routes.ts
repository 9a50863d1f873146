import type { IncomingMessage } from 'node:http';
import { firstValueFrom, fromEvent, type Observable, takeUntil } from 'rxjs';
import { cadvisorMetrics } from '../../model/stats/cadvisor-metrics.js';
import { EXPOSITION_TYPE, familyText, type MetricFamily } from '../../model/stats/exposition.js';
import { resourceMetrics } from '../../model/stats/resource-metrics.js';
import { metricsOfRuntime } from '../../model/stats/runtime-metrics.js';
import { summaryOf } from '../../model/stats/summary.js';
import type { NodeStats } from '../../streams/ports/node-stats.js';
import type { Answer, Routes } from './http-routes.js';

/**
 * `/stats/summary`, `/metrics/resource` and `/metrics/cadvisor`. A sample is cancelled when all its clients have disconnected.
 *
 * Source: pkg/kubelet/server/stats/handler.go, pkg/kubelet/server/server.go
 */
export const statsRoutes = ({ resources$, summary$, cgroups$, runtimeMetrics$ }: NodeStats): Routes => {
  const summary = async (request: IncomingMessage): Promise<Answer> => {
    const query = new URL(request.url ?? '/', 'http://local').searchParams.get('only_cpu_and_memory');
    const onlyCpuAndMemory = query !== null && TRUE.has(query);
    const sample = await sampleFor(request, onlyCpuAndMemory ? resources$ : summary$);
    if (sample.failure !== undefined) return { status: 500, body: `Internal Error: ${sample.failure}` };
    return {
      status: 200,
      type: 'application/json',
      body: `${JSON.stringify(summaryOf(sample, { onlyCpuAndMemory }), null, 1)}`,
    };
  };
  return {
    '/stats/summary': summary,
    'POST /stats/summary': summary,
    '/metrics/cadvisor': async (request) => {
      const metrics = await sampleFor(request, runtimeMetrics$);
      if (metrics) return exposition(metricsOfRuntime(metrics));
      return exposition(cadvisorMetrics(await sampleFor(request, cgroups$)));
    },
    '/metrics/resource': async (request) => exposition(resourceMetrics(await sampleFor(request, resources$))),
  };
};

/** As Go's `strconv.ParseBool`. */
const TRUE: ReadonlySet<string> = new Set(['1', 't', 'T', 'TRUE', 'true', 'True']);

const sampleFor = <Sample>(request: IncomingMessage, sample$: Observable<Sample>): Promise<Sample> =>
  firstValueFrom(sample$.pipe(takeUntil(fromEvent(request.socket, 'close'))));

/** Other work of the process gets its turn between the families. */
const exposition = async (families: Iterable<MetricFamily>): Promise<Answer> => {
  const parts: string[] = [];
  for (const family of families) {
    parts.push(familyText(family));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  return { status: 200, type: EXPOSITION_TYPE, body: parts.join('') };
};
