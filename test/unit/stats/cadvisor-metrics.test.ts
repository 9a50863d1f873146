import { describe, expect, it } from 'vitest';
import { assembleSample, type SampleParts } from '../../../src/model/stats/assemble-sample.js';
import { cadvisorMetrics } from '../../../src/model/stats/cadvisor-metrics.js';
import { CpuRates } from '../../../src/model/stats/cpu-rates.js';
import { familyText } from '../../../src/model/stats/exposition.js';
import type { MountedFileSystem } from '../../../src/model/stats/node-sample.js';
import { lintExposition, samplesIn } from '../../support/lint-exposition.js';
import { complaintsAbout } from '../../support/names-of-upstream.js';
import {
  aMachine,
  START_MS,
  statsCgroup,
  statsMachine,
  statsNetwork,
  statsParts,
  textsV2,
} from '../../support/stats-parts.js';

const NETWORK = statsNetwork();
const stalls = (some: number, full: number): string =>
  `some avg10=0 avg60=0 avg300=0 total=${some}\nfull avg10=0 avg60=0 avg300=0 total=${full}\n`;
const FULL = {
  'cpu.max': '50000 100000\n',
  'cpu.stat':
    'usage_usec 4000000\nuser_usec 3000000\nsystem_usec 1000000\nnr_periods 9\nnr_throttled 2\nthrottled_usec 500000\n' +
    'nr_bursts 4\nburst_usec 250000\n',
  'cpu.weight': '1\n',
  'io.stat': '8:0 rbytes=1 wbytes=2 rios=3 wios=4\n9:9 rbytes=5 wbytes=6 rios=7 wios=8\n',
  'pids.current': '6\n',
  'pids.max': 'max\n',
  'cpu.pressure': stalls(2_000_000, 1_000_000),
  'memory.pressure': stalls(4_000_000, 3_500_000),
  'io.pressure': stalls(6_000_000, 250),
};
const FILE_SYSTEM: MountedFileSystem = {
  ...{ source: '/dev/sda', device: '8:0', timeMs: START_MS },
  space: { capacityBytes: 100, availableBytes: 50, usedBytes: 40, inodes: 10, inodesFree: 7 },
  transfers: {
    ...{ reads: 1, readsMerged: 2, sectorsRead: 3, readMs: 4_000 },
    ...{ writes: 5, writesMerged: 6, sectorsWritten: 7, writeMs: 8_000 },
    ...{ inProgress: 9, busyMs: 10_000, weightedMs: 11_000 },
  },
};
const sampled = statsParts({
  machine: statsMachine({ network: NETWORK }),
  facts: aMachine,
  reading: {
    cgroups: new Map([
      ['/', statsCgroup('/', { v1: {}, v2: {} })],
      ['/kubepods', statsCgroup('/kubepods', textsV2(6))],
      ['poduid-a', statsCgroup('/kubepods/poduid-a', textsV2(5_000_000, 4_000))],
      ['sandbox-a', { ...statsCgroup('/kubepods/poduid-a/sandbox-a', textsV2(1)), processes: 1, network: NETWORK }],
      [
        'a-main',
        {
          ...statsCgroup('/kubepods/poduid-a/a-main', textsV2(4, 3_000, FULL)),
          ...{ processes: 2, openFiles: { descriptors: 9, sockets: 3, softLimit: 1_024 } },
        },
      ],
    ]),
    problems: [],
  },
  fileSystems: [FILE_SYSTEM, { ...FILE_SYSTEM, source: 'overlay', device: '0:21', transfers: undefined }],
});
const textOf = (over: Partial<SampleParts> = {}): string =>
  [...cadvisorMetrics(assembleSample({ ...sampled, ...over }, new CpuRates(), { timeMs: START_MS, steadyMs: 0 }))]
    .map(familyText)
    .join('');
/** The labels that not every series has. */
const extraOf = (labels: Readonly<Record<string, string>>) =>
  Object.fromEntries(
    Object.entries(labels).filter(([key]) => !['container', 'id', 'image', 'name', 'namespace', 'pod'].includes(key)),
  );
/** The series of a name, in short: `container@id labels = value`. */
const seriesOf = (text: string, name: string) =>
  samplesIn(text)
    .filter((sample) => sample.name === name)
    .map(({ labels, value }) => [labels.id, labels.container, extraOf(labels), value]);

const MAIN = '/kubepods/poduid-a/a-main';
const OF_CADVISOR = complaintsAbout(['cadvisor_version_info', 'container_fs_inodes_total']);

describe('the metrics of cAdvisor', () => {
  it('keep the rules of the format, except for the names of cAdvisor', () => {
    expect(lintExposition(textOf()).toSorted()).toEqual(OF_CADVISOR);
  });

  it('have the labels of the container, which are blank where they are unknown', () => {
    const lines = textOf()
      .split('\n')
      .filter((line) => line.startsWith('container_cpu_usage_seconds_total'));
    const labels = (container: string, id: string, image: string, name: string, pod = 'a', namespace = 'default') =>
      `container="${container}",id="${id}",image="${image}",name="${name}",namespace="${namespace}",pod="${pod}"`;
    expect(lines).toEqual([
      `container_cpu_usage_seconds_total{cpu="total",${labels('', '/', '', '', '', '')}} 9 ${START_MS}`,
      `container_cpu_usage_seconds_total{cpu="total",${labels('', '/kubepods', '', '', '', '')}} 0.000006 ${START_MS}`,
      `container_cpu_usage_seconds_total{cpu="total",${labels('', '/kubepods/poduid-a', '', '')}} 5 ${START_MS}`,
      `container_cpu_usage_seconds_total{cpu="total",${labels('', '/kubepods/poduid-a/sandbox-a', '', 'sandbox-a')}} 0.000001 ${START_MS}`,
      `container_cpu_usage_seconds_total{cpu="total",${labels('main', MAIN, 'busybox:1', 'a-main')}} 4 ${START_MS}`,
    ]);
  });

  it.each([
    ['container_cpu_user_seconds_total', [[MAIN, 'main', {}, 3]]],
    ['container_cpu_cfs_periods_total', [[MAIN, 'main', {}, 9]]],
    ['container_cpu_cfs_throttled_periods_total', [[MAIN, 'main', {}, 2]]],
    ['container_cpu_cfs_throttled_seconds_total', [[MAIN, 'main', {}, 0.5]]],
    ['container_cpu_cfs_burst_periods_total', [[MAIN, 'main', {}, 4]]],
    ['container_cpu_cfs_burst_seconds_total', [[MAIN, 'main', {}, 0.25]]],
    ['container_file_descriptors', [[MAIN, 'main', {}, 9]]],
    ['container_sockets', [[MAIN, 'main', {}, 3]]],
    ['container_ulimits_soft', [[MAIN, 'main', { ulimit: 'max_open_files' }, 1_024]]],
    ['container_spec_cpu_quota', [[MAIN, 'main', {}, 50_000]]],
    ['container_spec_cpu_shares', [[MAIN, 'main', {}, 2]]],
    ['container_threads_max', [[MAIN, 'main', {}, 0]]],
    ['container_pressure_cpu_waiting_seconds_total', [[MAIN, 'main', {}, 2]]],
    ['container_pressure_cpu_stalled_seconds_total', [[MAIN, 'main', {}, 1]]],
    ['container_pressure_memory_waiting_seconds_total', [[MAIN, 'main', {}, 4]]],
    ['container_pressure_memory_stalled_seconds_total', [[MAIN, 'main', {}, 3.5]]],
    ['container_pressure_io_waiting_seconds_total', [[MAIN, 'main', {}, 6]]],
    ['container_pressure_io_stalled_seconds_total', [[MAIN, 'main', {}, 0.00025]]],
    [
      'container_fs_reads_bytes_total',
      [
        [MAIN, 'main', { device: '/dev/sda' }, 1],
        [MAIN, 'main', { device: '9:9' }, 5],
      ],
    ],
    [
      'container_network_transmit_packets_dropped_total',
      [
        ['/', '', { interface: 'eth0' }, 6],
        ['/kubepods/poduid-a/sandbox-a', '', { interface: 'eth0' }, 6],
      ],
    ],
    ['container_memory_failcnt', []],
  ])('have the values of %s, and no series where the kernel does not count', (name, expected) => {
    const series = seriesOf(textOf(), name);
    expect(series.filter(([id]) => expected.some(([of]) => of === id))).toEqual(expected);
    if (name.includes('network') || name.includes('cfs') || expected.length === 0) expect(series).toEqual(expected);
  });

  it.each([
    ['usage_bytes', 40, true],
    ['limit_bytes', 100, true],
    ['inodes_total', 10, true],
    ['inodes_free', 7, true],
    ['sector_reads_total', 3, false],
    ['reads_merged_total', 2, false],
    ['read_seconds_total', 4, false],
    ['sector_writes_total', 7, false],
    ['writes_merged_total', 6, false],
    ['write_seconds_total', 8, false],
    ['io_current', 9, false],
    ['io_time_seconds_total', 10, false],
    ['io_time_weighted_seconds_total', 11, false],
  ])('have container_fs_%s of the file systems of the node', (name, value, ofOverlay) => {
    expect(seriesOf(textOf(), `container_fs_${name}`)).toEqual([
      ['/', '', { device: '/dev/sda' }, value],
      ...(ofOverlay ? [['/', '', { device: 'overlay' }, value]] : []),
    ]);
  });

  it('count the transfers of the devices for a root whose own are not counted, each device once', () => {
    const ofRoot = (over: Partial<SampleParts>, name: string) =>
      seriesOf(textOf(over), name).filter(([id]) => id === '/');
    const twice = { fileSystems: [FILE_SYSTEM, { ...FILE_SYSTEM, source: '/dev/root' }] };
    expect(ofRoot(twice, 'container_fs_reads_total')).toEqual([['/', '', { device: '/dev/sda' }, 1]]);
    expect(ofRoot(twice, 'container_fs_writes_bytes_total')).toEqual([['/', '', { device: '/dev/sda' }, 7 * 512]]);
    const root = statsCgroup('/', { v1: {}, v2: { 'io.stat': '8:0 rbytes=1 wbytes=2 rios=30 wios=4\n' } });
    const reading = { cgroups: new Map([['/', root]]), problems: [] };
    expect(ofRoot({ reading }, 'container_fs_reads_total')).toEqual([['/', '', { device: '/dev/sda' }, 30]]);
  });

  it('have times, except for settings and start times', () => {
    const untimed = samplesIn(textOf())
      .filter(({ timeMs }) => timeMs === undefined)
      .map(({ name }) => name);
    expect(
      untimed.filter(
        (name) => !/^container_spec_|^machine_|^cadvisor_|^container_(start_time_seconds|scrape_error)$/.test(name),
      ),
    ).toEqual([]);
    expect(new Set(untimed)).toContain('container_start_time_seconds');
  });

  it('of a runtime with containers in cgroups of the sandbox have its network on the pod', () => {
    const cgroups = new Map([
      ['sandbox-a', { ...statsCgroup('/rt/sandbox-a', textsV2(9)), network: NETWORK }],
      ['a-main', statsCgroup('/rt/sandbox-a/a-main', textsV2(4))],
    ]);
    const text = textOf({ reading: { cgroups, problems: [] } });
    expect(seriesOf(text, 'container_network_receive_bytes_total')).toEqual([
      ['/rt/sandbox-a', '', { interface: 'eth0' }, 10],
    ]);
    expect(seriesOf(text, 'container_memory_working_set_bytes').map(([id]) => id)).toEqual([
      '/rt/sandbox-a',
      '/rt/sandbox-a/a-main',
    ]);
    expect(lintExposition(text).toSorted()).toEqual(OF_CADVISOR);
  });

  it('report faults', () => {
    expect(textOf()).toContain('container_scrape_error 0\n');
    expect(textOf({ reading: { cgroups: new Map(), problems: ['x'] } })).toContain('container_scrape_error 1\n');
    expect(textOf({ facts: undefined })).toContain('machine_scrape_error 1\n');
    expect(seriesOf(textOf(), 'machine_cpu_physical_cores')).toEqual([
      [undefined, undefined, { boot_id: 'b1', machine_id: 'm1', system_uuid: 's1' }, 2],
    ]);
  });
});

describe('the check of the format', () => {
  it.each([
    [
      '# HELP a_total x\n# TYPE a_total gauge\na_total 1\n',
      'a_total non-counter metrics should not have "_total" suffix',
    ],
    ['# HELP a x\n# TYPE a gauge\na 1\na 2\n', 'twice: a[]'],
    ['# TYPE a gauge\na 1\n', 'a no help text'],
    ['a 1\n', 'a has no type'],
    ['# HELP a x\n# TYPE a gauge\na 1', 'the last line has no end'],
    ['# HELP a x\n# TYPE a gauge\na 1\n# HELP a x\n# TYPE a gauge\na{b="1"} 1\n', 'a is in two parts'],
  ])('reports %j', (text, problem) => {
    expect(lintExposition(text)).toEqual([problem]);
  });

  it('refuses a line that is no sample', () => {
    expect(() => samplesIn('a{b=1} 2\n')).toThrow('not a sample: a{b=1} 2');
    expect(() => samplesIn('a x\n')).toThrow('not a sample');
  });
});
