import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/agent-files.js';
import { eventually } from '../embedded/eventually.js';
import { BURN, HELD_BYTES, rateOf, scrape, type ScrapedSummary, seriesNamed } from '../embedded/scraped.js';
import { CADVISOR_NAMES, lintExposition } from '../support/lint-exposition.js';
import { freeHostPort } from './host-port.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const port = await freeHostPort();
const it = onOneNode(() => ['--address', '127.0.0.1', '--port', '0', '--read-only-port', String(port)]);
const limits = { cpu: '200m', memory: '64Mi' };

/** The series behind the panels and alerts about pods and nodes of the common set of Kubernetes dashboards. */
const OF_CONTAINERS = [
  ...['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes', 'container_memory_rss'],
  ...[
    'container_memory_cache',
    'container_memory_swap',
    'container_memory_usage_bytes',
    'container_start_time_seconds',
  ],
  ...['container_cpu_cfs_periods_total', 'container_cpu_cfs_throttled_periods_total', 'container_spec_cpu_quota'],
  ...['container_spec_cpu_shares', 'container_spec_memory_limit_bytes', 'container_last_seen', 'container_processes'],
];
const OF_NETWORKS = ['receive', 'transmit'].flatMap((way) =>
  ['bytes', 'packets', 'packets_dropped', 'errors'].map((what) => `container_network_${way}_${what}_total`),
);
const OF_MACHINE = ['machine_cpu_cores', 'machine_memory_bytes', 'machine_scrape_error', 'container_scrape_error'];
/**
 * Transfers of disks are not among them: since Linux 6.10 the kernel counts them under cgroup v1 only after a limit was set on the device.
 * `test/unit/stats/cgroup-usage.test.ts` has their files.
 */
/** Under load these are above 0. */
const GROWN = [
  ...['container_cpu_usage_seconds_total', 'container_memory_working_set_bytes', 'container_cpu_cfs_periods_total'],
  ...['container_cpu_cfs_throttled_periods_total'],
];
const OF_KUBELET = [
  ...['kubelet_node_name', 'kubelet_running_pods', 'kubelet_running_containers', 'kubelet_runtime_operations_total'],
  ...['kubelet_runtime_operations_duration_seconds_bucket', 'kubelet_pod_worker_duration_seconds_bucket'],
  ...['kubelet_pod_start_duration_seconds_bucket', 'kubelet_pleg_relist_duration_seconds_bucket'],
  ...['kubelet_pleg_relist_interval_seconds_bucket', 'volume_manager_total_volumes'],
  ...['storage_operation_duration_seconds_bucket', 'process_cpu_seconds_total', 'process_resident_memory_bytes'],
  ...['kubernetes_build_info', 'kubelet_certificate_manager_client_ttl_seconds'],
];

overContainerd('the numbers of a node with containerd', () => {
  it('of a pod that uses CPU, memory and network are in every series of the dashboards', async ({ node }) => {
    node.apply({
      name: 'burns',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          script: BURN,
          resources: { requests: limits, limits },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    });
    await node.reached('burns', 'CONTAINER_RUNNING');
    const pod = `burns-${NODE_NAME}`;
    const text = await eventually('the counters have grown', async () => {
      const scraped = await scrape(port, '/metrics/cadvisor');
      const has = (name: string) =>
        seriesNamed(scraped, name, pod).some(({ labels, value }) => labels.container === 'main' && value > 0);
      expect(GROWN.filter((name) => !has(name))).toEqual([]);
      return scraped;
    });
    const named = (name: string, container: string) =>
      seriesNamed(text, name, pod).filter(({ labels }) => labels.container === container).length;
    expect(OF_CONTAINERS.filter((name) => named(name, 'main') === 0)).toEqual([]);
    expect(OF_NETWORKS.filter((name) => named(name, '') !== 1)).toEqual([]);
    expect(OF_MACHINE.filter((name) => seriesNamed(text, name).length !== 1)).toEqual([]);
    // The cgroup of the pod, which contains the sandbox and the container.
    expect(seriesNamed(text, 'container_memory_working_set_bytes', pod).map(({ labels }) => labels.container)).toEqual([
      '',
      '',
      'main',
    ]);
    expect(
      seriesNamed(text, 'container_spec_memory_limit_bytes', pod).find(({ labels }) => labels.container === 'main')
        ?.value,
    ).toBe(64 * 2 ** 20);
    const known = new Set(CADVISOR_NAMES);
    expect(lintExposition(text).filter((problem) => !known.has(problem))).toEqual([]);
    expect(text).toContain('\ncontainer_scrape_error 0\n');
    // Volumes are counted a second after they changed, and a quick machine is here before that.
    await eventually('the metrics of the agent are complete', async () => {
      const metrics = await scrape(port, '/metrics');
      expect(OF_KUBELET.filter((name) => !metrics.includes(`\n${name}`))).toEqual([]);
      return true;
    });
  });

  it('give metrics-server a rate, and are in the summary with layers and network', async ({ node }) => {
    node.apply({ name: 'shown', containers: [{ script: `echo text > /written; ${BURN}` }] });
    await node.reached('shown', 'CONTAINER_RUNNING');
    const pod = `shown-${NODE_NAME}`;
    const first = await eventually('the pod is in the metrics', async () => {
      const text = await scrape(port, '/metrics/resource');
      return seriesNamed(text, 'container_cpu_usage_seconds_total', pod).length > 0 && text;
    });
    expect(lintExposition(first)).toEqual([]);
    expect(seriesNamed(first, 'container_start_time_seconds', pod)[0]?.value).toBeGreaterThan(0);
    const rate = await eventually('the counter has grown', async () =>
      rateOf(first, await scrape(port, '/metrics/resource'), pod),
    );
    expect(rate).toBeGreaterThan(0);
    const found = await eventually('the summary has rate, memory and layer', async () => {
      const { pods } = JSON.parse(await scrape(port, '/stats/summary')) as ScrapedSummary;
      const shown = pods.find(({ podRef }) => podRef.name === pod);
      const [container] = shown?.containers ?? [];
      const isThere =
        (container?.cpu?.usageNanoCores ?? 0) > 0 && (container?.memory?.workingSetBytes ?? 0) > HELD_BYTES;
      return isThere && container && 'rootfs' in container && shown;
    });
    const number = expect.any(Number) as number;
    expect(found).toMatchObject({
      cpu: { usageNanoCores: number, usageCoreNanoSeconds: number },
      network: { name: 'eth0', rxBytes: number, txBytes: number },
      process_stats: { process_count: number },
      containers: [{ name: 'main', rootfs: { usedBytes: number, inodesUsed: number, capacityBytes: number } }],
    });
  });
});
