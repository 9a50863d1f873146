import { describe, expect, it } from 'vitest';
import { assembleSample, type SampleParts } from '../../../src/model/stats/assemble-sample.js';
import { CpuRates } from '../../../src/model/stats/cpu-rates.js';
import { familyText, labelText, withLabel } from '../../../src/model/stats/exposition.js';
import { resourceMetrics } from '../../../src/model/stats/resource-metrics.js';
import { figuresOfSandboxes } from '../../../src/model/stats/runtime-figures.js';
import { summaryOf } from '../../../src/model/stats/summary.js';
import { usageOfRuntime } from '../../../src/model/stats/usage.js';
import {
  SPACE,
  START,
  START_MS,
  statsCgroup,
  statsMachine,
  statsNetwork,
  statsParts,
  textsV2,
} from '../../support/stats-parts.js';

const sampled = statsParts({
  startedAtMs: START_MS - 30_000,
  machine: statsMachine({
    ownCgroup: '/agent',
    network: statsNetwork('ens1'),
    tasks: { timeMs: START_MS, most: 4_000, current: 30 },
  }),
  reading: {
    cgroups: new Map([
      ['/', statsCgroup('/', textsV2(50))],
      ['/agent', statsCgroup('/agent', textsV2(7))],
      ['/kubepods', { ...statsCgroup('/kubepods', textsV2(6)), createdAtMs: START_MS - 20_000 }],
      ['poduid-a', statsCgroup('/kubepods/poduid-a', textsV2(5, 4_000))],
      [
        'sandbox-a',
        {
          ...statsCgroup('/kubepods/poduid-a/sandbox-a', textsV2(1)),
          processes: 1,
          network: statsNetwork(),
        },
      ],
      [
        'a-main',
        { ...statsCgroup('/kubepods/poduid-a/a-main', textsV2(4, 3_000, { 'memory.max': '9000' })), processes: 2 },
      ],
    ]),
    problems: [],
  },
  disks: {
    node: { timeMs: START_MS, fileSystem: SPACE, usedBytes: 600, inodesUsed: 40 },
    images: { timeMs: START_MS, fileSystem: SPACE, usedBytes: 500, inodesUsed: 9 },
    containers: undefined,
    fileSystems: new Map([['/var', SPACE]]),
    problems: [],
  },
  logs: new Map([['a-main', { timeMs: START_MS, usedBytes: 70, inodesUsed: 2 }]]),
  hostsFiles: new Map([['uid-a', { timeMs: START_MS, usedBytes: 4, inodesUsed: 1 }]]),
  volumes: new Map([
    [
      'uid-a',
      [
        { name: 'data', isEphemeral: true, disk: { timeMs: START_MS, fileSystem: SPACE, usedBytes: 5, inodesUsed: 1 } },
        {
          name: 'memory',
          isEphemeral: false,
          disk: { timeMs: START_MS, fileSystem: SPACE, usedBytes: 11, inodesUsed: 1 },
        },
      ],
    ],
  ]),
});
const sampleOf = (over: Partial<SampleParts> = {}, rates = new CpuRates()) =>
  assembleSample({ ...sampled, ...over }, rates, { timeMs: START_MS, steadyMs: 0 });
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const SPACE_JSON = { time: START, availableBytes: 300, capacityBytes: 1_000, inodesFree: 60, inodes: 100 };
const cpu = (ns: number) => ({ time: START, usageCoreNanoSeconds: ns });
const memory = (usage: number, more: object = {}) => ({
  ...{
    time: START,
    usageBytes: usage,
    workingSetBytes: usage - 1_000,
    rssBytes: 1_000,
    pageFaults: 7,
    majorPageFaults: 1,
  },
  ...more,
});
const SWAP = { time: START, swapAvailableBytes: 0, swapUsageBytes: 0 };

describe('the summary', () => {
  it('has the node and its pods, and leaves out unknown figures', () => {
    expect(plain(summaryOf(sampleOf(), { onlyCpuAndMemory: false }))).toEqual({
      node: {
        nodeName: 'n1',
        startTime: '2026-11-26T23:59:00Z',
        systemContainers: [
          { name: 'kubelet', startTime: '2026-11-26T23:59:30Z', cpu: cpu(7_000), memory: memory(3_000), swap: SWAP },
          { name: 'pods', startTime: '2026-11-26T23:59:40Z', cpu: cpu(6_000), memory: memory(3_000), swap: SWAP },
        ],
        cpu: cpu(50_000),
        memory: memory(3_000, { availableBytes: 998_000 }),
        network: {
          ...{ time: START, name: 'ens1', rxBytes: 10, rxErrors: 1, txBytes: 20, txErrors: 2 },
          interfaces: [{ name: 'ens1', rxBytes: 10, rxErrors: 1, txBytes: 20, txErrors: 2 }],
        },
        fs: { ...SPACE_JSON, usedBytes: 600, inodesUsed: 40 },
        runtime: { imageFs: { ...SPACE_JSON, usedBytes: 500, inodesUsed: 9 } },
        rlimit: { time: START, maxpid: 4_000, curproc: 30 },
        swap: SWAP,
      },
      pods: [
        {
          podRef: { name: 'a', namespace: 'default', uid: 'uid-a' },
          startTime: START,
          containers: [
            {
              name: 'main',
              startTime: START,
              cpu: cpu(4_000),
              memory: memory(3_000, { availableBytes: 7_000 }),
              logs: { ...SPACE_JSON, usedBytes: 70, inodesUsed: 2 },
              swap: SWAP,
            },
          ],
          cpu: cpu(5_000),
          memory: memory(4_000),
          network: {
            ...{ time: START, name: 'eth0', rxBytes: 10, rxErrors: 1, txBytes: 20, txErrors: 2 },
            interfaces: [{ name: 'eth0', rxBytes: 10, rxErrors: 1, txBytes: 20, txErrors: 2 }],
          },
          volume: [
            { ...SPACE_JSON, name: 'data', usedBytes: 5, inodesUsed: 1 },
            { ...SPACE_JSON, name: 'memory', usedBytes: 11, inodesUsed: 1 },
          ],
          'ephemeral-storage': { ...SPACE_JSON, usedBytes: 79, inodesUsed: 4 },
          process_stats: { process_count: 3 },
          swap: SWAP,
        },
      ],
    });
  });

  it('has CPU, memory and swap alone on request', () => {
    const { node, pods } = plain(summaryOf(sampleOf(), { onlyCpuAndMemory: true })) as { node: object; pods: object[] };
    expect(Object.keys(node).sort()).toEqual(['cpu', 'memory', 'nodeName', 'startTime', 'swap', 'systemContainers']);
    expect(Object.keys(pods[0]!).sort()).toEqual(['containers', 'cpu', 'memory', 'podRef', 'startTime', 'swap']);
  });

  it('has the stalls in the microseconds of the kernel, from a cgroup and from a runtime', () => {
    const ofKernel =
      'some avg10=1.50 avg60=0.25 avg300=0.10 total=7000012\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=5\n';
    const psi = {
      some: { total: 7_000_012, avg10: 1.5, avg60: 0.25, avg300: 0.1 },
      full: { total: 5, avg10: 0.5, avg60: 0, avg300: 0 },
    };
    const pressures = { 'cpu.pressure': ofKernel, 'memory.pressure': ofKernel, 'io.pressure': ofKernel };
    const cgroups = new Map([['a-main', statsCgroup('/x/a-main', textsV2(4, 3_000, pressures))]]);
    const { pods } = plain(
      summaryOf(sampleOf({ reading: { cgroups, problems: [] } }), { onlyCpuAndMemory: false }),
    ) as { pods: { containers: object[] }[] };
    expect(pods[0]?.containers[0]).toMatchObject({ cpu: { psi }, memory: { psi }, io: { psi } });
    const ofRuntime = usageOfRuntime({
      cpu: {
        ...{ timestamp: 1n, usageCoreNanoSeconds: undefined, usageNanoCores: undefined },
        psi: {
          Some: { Total: 7_000_012n, Avg10: 1.5, Avg60: 0.25, Avg300: 0.1 },
          Full: { Total: 5n, Avg10: 0.5, Avg60: 0, Avg300: 0 },
        },
      },
    });
    expect(ofRuntime?.cpuPressure).toEqual(psi);
  });

  it('has the writable layer and the network of the runtime, where the machine shows none', () => {
    const value = (amount: number) => ({ value: BigInt(amount) });
    const layer = {
      timestamp: BigInt(START_MS) * 1_000_000n,
      fsId: { mountpoint: '/var' },
      usedBytes: value(8),
      inodesUsed: value(2),
    };
    const figures = figuresOfSandboxes([
      {
        attributes: { id: 'sandbox-a', metadata: undefined, labels: {}, annotations: {} },
        linux: {
          ...{ cpu: undefined, memory: undefined, io: undefined, process: { timestamp: 1n, processCount: value(5) } },
          network: {
            timestamp: BigInt(START_MS) * 1_000_000n,
            defaultInterface: {
              name: 'eth9',
              rxBytes: value(1),
              rxErrors: value(0),
              txBytes: value(2),
              txErrors: value(0),
            },
            interfaces: [],
          },
          containers: [
            {
              attributes: { id: 'a-main', metadata: undefined, labels: {}, annotations: {} },
              ...{ cpu: undefined, memory: undefined, swap: undefined, io: undefined, writableLayer: layer },
            },
          ],
        },
      },
    ]);
    const sample = sampleOf({ read: { figures, problems: [] }, reading: { cgroups: new Map(), problems: [] } });
    const { pods } = plain(summaryOf(sample, { onlyCpuAndMemory: false })) as { pods: Record<string, unknown>[] };
    expect(pods[0]).toMatchObject({
      network: { name: 'eth9', rxBytes: 1, txBytes: 2 },
      process_stats: { process_count: 5 },
      containers: [{ rootfs: { ...SPACE_JSON, usedBytes: 8, inodesUsed: 2 } }],
    });
    expect(pods[0]).not.toHaveProperty('cpu');
  });
});

describe('a sandbox whose cgroup contains its containers', () => {
  it('is the cgroup of the pod, and its processes count once', () => {
    const cgroups = new Map([
      ['sandbox-a', { ...statsCgroup('/rt/sandbox-a', textsV2(9)), processes: 4 }],
      ['a-main', { ...statsCgroup('/rt/sandbox-a/a-main', textsV2(4)), processes: 2 }],
    ]);
    const [pod] = sampleOf({ reading: { cgroups, problems: [] } }).pods;
    expect([pod?.usage?.cpuNs, pod?.processes, pod?.sandbox]).toEqual([9_000, 4, undefined]);
  });
});

describe('the metrics of resources', () => {
  const textOf = (sample: ReturnType<typeof sampleOf>) => resourceMetrics(sample).map(familyText).join('');

  it('have the times of their samples, except start times', () => {
    const lines = textOf(sampleOf())
      .split('\n')
      .filter((line) => !line.startsWith('#'));
    const container = '{container="main",namespace="default",pod="a"}';
    expect(lines).toEqual([
      `node_cpu_usage_seconds_total 0.00005 ${START_MS}`,
      `node_memory_working_set_bytes 2000 ${START_MS}`,
      `node_swap_usage_bytes 0 ${START_MS}`,
      `container_cpu_usage_seconds_total${container} 0.000004 ${START_MS}`,
      `container_memory_working_set_bytes${container} 2000 ${START_MS}`,
      `container_swap_usage_bytes${container} 0 ${START_MS}`,
      `container_swap_limit_bytes${container} 0 ${START_MS}`,
      `container_start_time_seconds${container} ${START_MS / 1_000}`,
      `pod_cpu_usage_seconds_total{namespace="default",pod="a"} 0.000005 ${START_MS}`,
      `pod_memory_working_set_bytes{namespace="default",pod="a"} 3000 ${START_MS}`,
      `pod_swap_usage_bytes{namespace="default",pod="a"} 0 ${START_MS}`,
      'resource_scrape_error 0',
      '',
    ]);
  });

  it('of a runtime that cannot be listed are those of the node, with an error', () => {
    const sample = sampleOf({ pods: [], lists: { failure: 'no runtime' } });
    expect(textOf(sample)).toContain('resource_scrape_error 1\n');
    expect(textOf(sample)).toContain('node_cpu_usage_seconds_total 0.00005');
    expect(textOf(sample)).not.toContain('pod_');
  });
});

it('keeps the rates of pods over a failed listing', () => {
  const rates = new CpuRates();
  sampleOf({}, rates);
  sampleOf({ pods: [], lists: { failure: 'no runtime' } }, rates);
  const later = new Map([['a-main', statsCgroup('/x/a-main', textsV2(2_000_004), START_MS + 4_000)]]);
  const [pod] = sampleOf({ reading: { cgroups: later, problems: [] } }, rates).pods;
  expect(pod?.containers[0]?.usage?.nanoCores).toBe(500_000_000);
});

it('escapes the values of labels', () => {
  expect(labelText({ id: 'a\\b"c\nd' })).toBe('{id="a\\\\b\\"c\\nd"}');
  expect(withLabel(labelText({ a: '1' }), 'b', '2')).toBe('{b="2",a="1"}');
  expect(withLabel('', 'b', '2')).toBe('{b="2"}');
  expect(familyText({ name: 'm', help: 'h.', type: 'gauge', series: [{ labels: '', value: Infinity }] })).toBe(
    '# HELP m h.\n# TYPE m gauge\nm +Inf\n',
  );
});
