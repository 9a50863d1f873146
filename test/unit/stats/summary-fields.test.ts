import { describe, expect, it } from 'vitest';
import { assembleSample, type SampleParts } from '../../../src/model/stats/assemble-sample.js';
import { CpuRates } from '../../../src/model/stats/cpu-rates.js';
import { NO_FIGURES } from '../../../src/model/stats/runtime-figures.js';
import { summaryOf } from '../../../src/model/stats/summary.js';
import {
  SPACE,
  START_MS,
  statsCgroup,
  statsMachine,
  statsNetwork,
  statsParts,
  textsV2,
} from '../../support/stats-parts.js';
import { FIELDS_OF_UPSTREAM, fieldsOf, SUMMARY_FIELDS } from '../../support/summary-fields.js';

const PRESSURE = ['some', 'full'].map((kind) => `${kind} avg10=1.00 avg60=2.00 avg300=3.00 total=4\n`).join('');
/** What the kernel reports of a cgroup with limits. */
const everyText = (cpuMicros: number) =>
  textsV2(cpuMicros, 3_000, {
    ...{ 'memory.max': '9000\n', 'memory.swap.current': '100\n', 'memory.swap.max': '500\n' },
    ...{ 'cpu.pressure': PRESSURE, 'memory.pressure': PRESSURE, 'io.pressure': PRESSURE },
  });
const used = { timeMs: START_MS, usedBytes: 5, inodesUsed: 1 };
const disk = { ...used, fileSystem: SPACE };
const network = statsNetwork();

const partsAt = (seconds: number): SampleParts => {
  const cgroup = (id: string) => ({
    ...statsCgroup(id, everyText(seconds * 500_000), START_MS + seconds * 1_000),
    createdAtMs: START_MS,
  });
  return statsParts({
    systemCgroups: { pods: '/kubepods', runtime: '/runtime', misc: '/misc' },
    machine: statsMachine({
      ...{ ownCgroup: '/agent', network, tasks: { timeMs: START_MS, most: 4_000, current: 30 } },
    }),
    reading: {
      cgroups: new Map([
        ...['/', '/agent', '/kubepods', '/runtime', '/misc', 'poduid-a'].map((key) => [key, cgroup(key)] as const),
        ['sandbox-a', { ...cgroup('/kubepods/poduid-a/sandbox-a'), processes: 1, network }],
        ['a-main', { ...cgroup('/kubepods/poduid-a/a-main'), processes: 2 }],
      ]),
      problems: [],
    },
    read: {
      figures: {
        ...NO_FIGURES,
        containers: new Map([
          [
            'a-main',
            {
              usage: undefined,
              writableLayer: {
                ...{ timestamp: BigInt(START_MS) * 1_000_000n, fsId: { mountpoint: '/var' } },
                ...{ usedBytes: { value: 8n }, inodesUsed: { value: 2n } },
              },
            },
          ],
        ]),
      },
      problems: [],
    },
    disks: {
      ...{ node: disk, images: disk, containers: disk, fileSystems: new Map([['/var', SPACE]]), problems: [] },
    },
    logs: new Map([['a-main', used]]),
    hostsFiles: new Map([['uid-a', used]]),
    volumes: new Map([['uid-a', [{ name: 'data', isEphemeral: true, disk }]]]),
  });
};

/** The second sample, which has rates. */
const summary = (onlyCpuAndMemory: boolean): unknown => {
  const rates = new CpuRates();
  const [, second] = [10, 20].map((seconds) =>
    assembleSample(partsAt(seconds), rates, { timeMs: START_MS + seconds * 1_000, steadyMs: seconds * 1_000 }),
  );
  return JSON.parse(JSON.stringify(summaryOf(second!, { onlyCpuAndMemory })));
};

describe('the fields of the summary', () => {
  it('are all there where the machine and the runtime report everything', () => {
    expect(fieldsOf(summary(false)).toSorted()).toEqual(SUMMARY_FIELDS.toSorted());
  });

  it('are those of CPU, memory and swap on request', () => {
    const kept =
      /^(node|node\.systemContainers\[\]|pods\[\]|pods\[\]\.containers\[\])\.(cpu|memory|swap)\.|[nN]ame$|startTime$|podRef/;
    const left = /\.(network|volume)\b|\.volume\[\]/;
    expect(fieldsOf(summary(true)).toSorted()).toEqual(
      SUMMARY_FIELDS.filter((field) => kept.test(field) && !left.test(field)).toSorted(),
    );
  });

  it('lack only what is declared', () => {
    const lacking = FIELDS_OF_UPSTREAM.filter((field) => !SUMMARY_FIELDS.includes(field));
    expect(lacking.filter((field) => !field.startsWith('node.systemContainers[].')).toSorted()).toEqual([
      'pods[].containers[].accelerators[]',
      'pods[].containers[].userDefinedMetrics[]',
      'pods[].volume[].pvcRef.name',
      'pods[].volume[].pvcRef.namespace',
      'pods[].volume[].volumeHealthStats.abnormal',
    ]);
  });
});
