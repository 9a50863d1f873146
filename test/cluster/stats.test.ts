import { join } from 'node:path';
import { expect } from 'vitest';
import { nodePath } from '../../src/model/kube-api/api-paths.js';
import { freeHostPort } from '../containerd/host-port.js';
import { emptySeries } from '../embedded/empty-series.js';
import { eventually } from '../embedded/eventually.js';
import { BURN, HELD_BYTES, rateOf, type ScrapedSummary, seriesNamed } from '../embedded/scraped.js';
import { OF_API_CLIENT } from '../support/dashboard-series.js';
import { overCluster } from './missing.js';
import { onNode } from './one-node.js';

const NAME = 'measured';
const port = await freeHostPort();
const it = onNode(NAME, ({ cluster }) => [
  ...['--port', String(port), '--client-ca-file', join(cluster.folder, 'pki', 'ca.crt')],
]);

overCluster('the numbers of a node', () => {
  it('are read through the API server, as kubectl top and dashboards do', async ({ node }) => {
    await eventually('the kubelet API is served', () => node.log.includes('the kubelet API is served'));
    await node.create({ name: 'burns', containers: [{ script: BURN }] });
    await node.running('burns');
    const proxied = (path: string) => node.admin.ask('GET', `${nodePath(NAME)}/proxy${path}`);
    const metrics = async () => (await proxied('/metrics/resource')) as string;
    const first = await eventually('the pod is in the metrics', async () => {
      const text = await metrics();
      return seriesNamed(text, 'pod_cpu_usage_seconds_total', 'burns').length > 0 && text;
    });
    expect(
      await eventually('the counter has grown', async () => rateOf(first, await metrics(), 'burns')),
    ).toBeGreaterThan(0);
    const pod = await eventually('the summary has the memory', async () => {
      const { pods, node: of } = (await proxied('/stats/summary')) as ScrapedSummary;
      expect(of.nodeName).toBe(NAME);
      const found = pods.find(({ podRef }) => podRef.name === 'burns');
      return (found?.containers[0]?.memory?.workingSetBytes ?? 0) > HELD_BYTES && found;
    });
    expect(pod).toMatchObject({ podRef: { namespace: NAME }, containers: [{ name: 'main' }] });
    expect(await proxied('/metrics/cadvisor')).toContain('container_scrape_error 0');
    expect(emptySeries((await proxied('/metrics')) as string, OF_API_CLIENT)).toEqual([]);
  });
});
