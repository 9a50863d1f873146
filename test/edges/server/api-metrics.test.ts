import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { apiMetrics } from '../../../src/server/metrics/api-metrics.js';
import { emptySeries } from '../../embedded/empty-series.js';
import { OF_API_CLIENT } from '../../support/dashboard-series.js';

it('counts the requests to the API server by the names of every client of Kubernetes', async () => {
  const registry = new Registry();
  const metrics = apiMetrics(registry);
  metrics.apiAttempt('GET', 'h:1', 200);
  metrics.apiAttempt('GET', 'h:1', 200);
  metrics.apiAttempt('PATCH', 'h:1', undefined);
  metrics.apiRequest('PATCH', 'h:1', 0.3);
  metrics.apiThrottled('PATCH', 'h:1', 70);
  const lines = (await registry.metrics()).split('\n');
  expect(lines.filter((line) => line.startsWith('rest_client_requests_total'))).toEqual([
    'rest_client_requests_total{code="200",method="GET",host="h:1"} 2',
    'rest_client_requests_total{code="<error>",method="PATCH",host="h:1"} 1',
  ]);
  const buckets = (name: string) =>
    lines.flatMap((line) => {
      const [, le, count] = new RegExp(`^${name}_bucket{le="(.*?)",verb="PATCH",host="h:1"} (.*)`).exec(line) ?? [];
      return le === undefined ? [] : [`${le}: ${count}`];
    });
  const bounds = ['0.005', '0.025', '0.1', '0.25', '0.5', '1', '2', '4', '8', '15', '30', '60', '+Inf'];
  expect(buckets('rest_client_request_duration_seconds')).toEqual(
    bounds.map((bound, index) => `${bound}: ${index < 4 ? 0 : 1}`),
  );
  expect(buckets('rest_client_rate_limiter_duration_seconds')).toEqual(
    bounds.map((bound) => `${bound}: ${bound === '+Inf' ? 1 : 0}`),
  );
});

it('has the labels by which dashboards group, in every series', async () => {
  const registry = new Registry();
  const metrics = apiMetrics(registry);
  expect(emptySeries(await registry.metrics(), OF_API_CLIENT)).toEqual([
    'rest_client_requests_total: none',
    'rest_client_request_duration_seconds_bucket: none',
  ]);
  metrics.apiAttempt('GET', 'h:1', 200);
  metrics.apiRequest('GET', 'h:1', 0.3);
  expect(emptySeries(await registry.metrics(), OF_API_CLIENT)).toEqual([]);
});

it.each([
  ['no series of the name', '', ['a_total: none']],
  ['a series without a label', 'a_total{code="200",host="h"} 1\na_total{code="200"} 1\n', ['a_total: without host']],
  ['a blank label', 'a_total{code="",host="h"} 1\n', ['a_total: without code']],
  ['only 0', 'a_total{code="200",host="h"} 0\n', ['a_total: all 0']],
  ['a 0 beside a count', 'a_total{code="200",host="h"} 0\na_total{code="404",host="h"} 1\n', []],
])('sees %s', (_, series, problems) => {
  const text = `# HELP a_total x\n# TYPE a_total counter\n${series}`;
  expect(emptySeries(text, [['a_total', 'code', 'host']])).toEqual(problems);
});
