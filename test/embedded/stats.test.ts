import { describe, expect } from 'vitest';
import { lintExposition } from '../support/lint-exposition.js';
import { freePort, it, NODE_NAME } from './daemon.js';
import { eventually } from './eventually.js';
import { expectNoComplaint } from './expect-no-complaint.js';
import { asksPromtool } from './promtool.js';
import { BURN, HELD_BYTES, rateOf, scrape, type ScrapedSummary, seriesNamed } from './scraped.js';

const POD = `burns-${NODE_NAME}`;

describe('the numbers of a node with the embedded runtime', () => {
  it('are those of a pod that uses CPU and memory', async ({ daemon }) => {
    const port = await freePort();
    daemon.apply({
      name: 'burns',
      volumes: [{ name: 'data', emptyDir: {} }],
      containers: [
        {
          script: `echo begins; head -c 300000 /dev/zero > "$DATA/file"; ${BURN}`,
          env: [{ name: 'DATA', value: '/data' }],
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
    });
    await daemon.start('--port', '0', '--address', '127.0.0.1', '--read-only-port', String(port));
    await daemon.reached('burns', 'CONTAINER_RUNNING');
    const summaryOf = async () => JSON.parse(await scrape(port, '/stats/summary')) as ScrapedSummary;

    const first = await eventually('the pod is in the metrics', async () => {
      const text = await scrape(port, '/metrics/resource');
      return seriesNamed(text, 'container_cpu_usage_seconds_total', POD).length > 0 && text;
    });
    expect(lintExposition(first)).toEqual([]);
    const rate = await eventually('the counter has grown', async () =>
      rateOf(first, await scrape(port, '/metrics/resource'), POD),
    );
    expect(rate).toBeGreaterThan(0);
    const pod = await eventually('the summary has the rate and the memory', async () => {
      const found = (await summaryOf()).pods.find(({ podRef }) => podRef.name === POD);
      const { cpu, memory } = found?.containers[0] ?? {};
      return (cpu?.usageNanoCores ?? 0) > 0 && (memory?.workingSetBytes ?? 0) > HELD_BYTES && found;
    });
    const space = { capacityBytes: expect.any(Number) as number, usedBytes: expect.any(Number) as number };
    expect(pod).toMatchObject({
      cpu: { usageCoreNanoSeconds: expect.any(Number) as number },
      memory: { usageBytes: expect.any(Number) as number, rssBytes: expect.any(Number) as number },
      process_stats: { process_count: expect.any(Number) as number },
      volume: [{ name: 'data', ...space }],
      'ephemeral-storage': space,
      containers: [{ name: 'main', rootfs: space, logs: space }],
    });
    expect(pod).not.toHaveProperty('network');
    const { node } = await summaryOf();
    expect(node).toMatchObject({
      nodeName: NODE_NAME,
      cpu: { usageCoreNanoSeconds: expect.any(Number) as number },
      memory: { workingSetBytes: expect.any(Number) as number, availableBytes: expect.any(Number) as number },
      network: { rxBytes: expect.any(Number) as number },
      fs: space,
      // The embedded runtime stores no image.
      runtime: { imageFs: { ...space, usedBytes: 0, inodesUsed: 0 }, containerFs: space },
      rlimit: { curproc: expect.any(Number) as number },
    });
    const cadvisor = await scrape(port, '/metrics/cadvisor');
    expect(
      seriesNamed(cadvisor, 'container_memory_working_set_bytes', POD).map(({ labels }) => labels.container),
    ).toEqual(['', 'main']);
    expect(cadvisor).toContain('\ncontainer_scrape_error 0\n');
    expect(await scrape(port, '/metrics/resource')).toContain('\nresource_scrape_error 0\n');
  });
});

describe('the metrics of a node with the embedded runtime', () => {
  it.runIf(asksPromtool)('have names that promtool accepts, or that are those of upstream', async ({ daemon }) => {
    const port = await freePort();
    const livenessProbe = { periodSeconds: 1, exec: { command: ['true'] } };
    daemon.apply({ name: 'probed', containers: [{ script: BURN, livenessProbe }] });
    await daemon.start('--port', '0', '--address', '127.0.0.1', '--read-only-port', String(port));
    await daemon.reached('probed', 'CONTAINER_RUNNING');
    await expectNoComplaint(port);
  });
});
