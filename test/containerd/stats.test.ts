import { existsSync, readFileSync, realpathSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/agent-files.js';
import { emptySeries } from '../embedded/empty-series.js';
import { eventually } from '../embedded/eventually.js';
import { expectNoComplaint } from '../embedded/expect-no-complaint.js';
import { asksPromtool } from '../embedded/promtool.js';
import { BURN, HELD_BYTES, rateOf, scrape, type ScrapedSummary, seriesNamed } from '../embedded/scraped.js';
import {
  DASHBOARD_DEVICE,
  GROWN,
  OF_CONTAINERS,
  OF_KUBELET,
  OF_MACHINE,
  OF_NETWORKS,
  OF_TRANSFERS,
  WITHOUT_SOURCE,
} from '../support/dashboard-series.js';
import { lintExposition } from '../support/lint-exposition.js';
import { OF_UPSTREAM } from '../support/names-of-upstream.js';
import { freeHostPort } from './host-port.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const port = await freeHostPort();
const it = onOneNode(() => ['--address', '127.0.0.1', '--port', '0', '--read-only-port', String(port)]);
const limits = { cpu: '200m', memory: '64Mi' };

/** Writes to the disk again and again. */
const WRITE = 'while :; do dd if=/dev/zero of=/data/file bs=64k count=1 conv=fsync 2>/dev/null; sleep 0.1; done';

/**
 * Since Linux 6.10 the kernel counts transfers under cgroup v1 only after a limit was set on the device: this one, of a terabyte a
 * second, ends with the cgroup.
 */
const countTransfers = (cgroup: string, path: string): void => {
  const limit = join('/sys/fs/cgroup/blkio', cgroup, 'blkio.throttle.write_bps_device');
  if (!existsSync(limit)) return;
  const { dev } = statSync(path);
  const device = join('/sys/dev/block', `${Math.floor(dev / 256)}:${dev % 256}`);
  const disk = existsSync(join(device, 'partition')) ? join(realpathSync(device), '..') : device;
  writeFileSync(limit, `${readFileSync(join(disk, 'dev'), 'utf8').trim()} 1000000000000`);
};

overContainerd('the numbers of a node with containerd', () => {
  it('of a pod that uses CPU, memory and network are in every series of the dashboards', async ({ node }) => {
    node.apply({
      name: 'burns',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          script: `(${WRITE}) & ${BURN}`,
          resources: { requests: limits, limits },
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    });
    await node.reached('burns', 'CONTAINER_RUNNING');
    const pod = `burns-${NODE_NAME}`;
    const cgroup = await eventually('the container is in the metrics', async () => {
      const found = seriesNamed(await scrape(port, '/metrics/cadvisor'), 'container_processes', pod);
      return found.find(({ labels }) => labels.container === 'main')?.labels.id;
    });
    countTransfers(cgroup, node.rootDir);
    const text = await eventually('the counters have grown', async () => {
      const scraped = await scrape(port, '/metrics/cadvisor');
      const has = (name: string) =>
        seriesNamed(scraped, name, pod).some(({ labels, value }) => labels.container === 'main' && value > 0);
      expect(GROWN.filter((name) => !has(name))).toEqual([]);
      return scraped;
    });
    // Panels ask for series with an image, and for disks.
    const named = (name: string, container: string) =>
      seriesNamed(text, name, pod).filter(
        ({ labels }) =>
          labels.container === container &&
          (container === '' || labels.image !== '') &&
          (labels.device === undefined || DASHBOARD_DEVICE.test(labels.device)),
      ).length;
    expect(OF_CONTAINERS.filter((name) => named(name, 'main') === 0)).toEqual([]);
    expect(OF_TRANSFERS.filter((name) => named(name, 'main') === 0)).toEqual([]);
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
    const known = new Set(OF_UPSTREAM.map(({ name, complaint }) => `${name} ${complaint}`));
    expect(lintExposition(text).filter((problem) => !known.has(problem))).toEqual([]);
    expect(text).toContain('\ncontainer_scrape_error 0\n');
    // Volumes are counted a second after they changed, and a quick machine is here before that.
    await eventually('the metrics of the agent are complete', async () => {
      const metrics = await scrape(port, '/metrics');
      expect(emptySeries(metrics, OF_KUBELET)).toEqual([]);
      expect(WITHOUT_SOURCE.filter((name) => metrics.includes(name))).toEqual([]);
      return true;
    });
  });

  it.runIf(asksPromtool)('have names that promtool accepts, or that are those of upstream', async ({ node }) => {
    const livenessProbe = { periodSeconds: 1, exec: { command: ['true'] } };
    node.apply({ name: 'probed', containers: [{ script: BURN, livenessProbe, resources: { limits } }] });
    await node.reached('probed', 'CONTAINER_RUNNING');
    await expectNoComplaint(port);
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
