import { describe, expect, it } from 'vitest';
import { cgroupUsage, usageFiles } from '../../../src/model/stats/cgroup-usage.js';

const V2 = {
  'cpu.stat':
    'usage_usec 1500000\nuser_usec 1000000\nsystem_usec 500000\nnr_periods 10\nnr_throttled 3\nthrottled_usec 7\n' +
    'nr_bursts 2\nburst_usec 5\n',
  'cpu.max': '50000 100000\n',
  'cpu.weight': '39\n',
  'memory.current': '5000\n',
  'memory.stat':
    'anon 3000\nfile 1500\nkernel 200\nfile_mapped 400\nactive_file 300\ninactive_file 1200\npgfault 11\npgmajfault 2\n',
  'memory.max': '8000\n',
  'memory.peak': '6000\n',
  'memory.low': '0\n',
  'memory.swap.current': '100\n',
  'memory.swap.max': '300\n',
  'memory.events': 'low 0\nhigh 0\nmax 4\noom 1\noom_kill 1\n',
  'pids.current': '6\n',
  'pids.max': 'max\n',
  'io.stat': '8:0 rbytes=4096 wbytes=8192 rios=1 wios=2 dbytes=0 dios=0\n259:1 \n',
  'cpu.pressure': 'some avg10=1.50 avg60=0.25 avg300=0.00 total=12\nfull avg10=0.50 avg60=0.00 avg300=0.00 total=5\n',
};
const V1 = {
  'cpuacct.usage': '1500000000\n',
  'cpuacct.stat': 'user 100\nsystem 50\n',
  'cpu.stat': 'nr_periods 10\nnr_throttled 3\nthrottled_time 7000\nnr_bursts 2\nburst_time 5000\n',
  'cpu.shares': '1024\n',
  'cpu.cfs_quota_us': '50000\n',
  'cpu.cfs_period_us': '100000\n',
  'memory.usage_in_bytes': '5000\n',
  'memory.stat':
    'cache 1\npgfault 5\npgmajfault 1\ntotal_cache 1500\ntotal_rss 3000\ntotal_mapped_file 400\ntotal_swap 100\n' +
    'total_pgfault 11\ntotal_pgmajfault 2\ntotal_active_file 300\ntotal_inactive_file 1200\n',
  'memory.limit_in_bytes': '8000\n',
  'memory.memsw.limit_in_bytes': '8300\n',
  'memory.max_usage_in_bytes': '6000\n',
  'memory.kmem.usage_in_bytes': '200\n',
  'memory.failcnt': '4\n',
  'memory.soft_limit_in_bytes': '9223372036854771712\n',
  'memory.oom_control': 'oom_kill_disable 0\nunder_oom 0\noom_kill 1\n',
  'pids.current': '6\n',
  'pids.max': 'max\n',
  'blkio.throttle.io_service_bytes_recursive': '8:0 Read 4096\n8:0 Write 8192\n8:0 Total 12288\nTotal 12288\n',
  'blkio.throttle.io_serviced_recursive': '8:0 Read 1\n8:0 Write 2\n8:0 Total 3\nTotal 3\n',
};
const CPU = {
  ...{ usageNs: 1.5e9, userNs: 1e9, systemNs: 5e8, periods: 10, throttledPeriods: 3, throttledNs: 7_000 },
  ...{ burstPeriods: 2, burstNs: 5_000, quotaMicros: 50_000, periodMicros: 100_000 },
};
const MEMORY = {
  ...{ usage: 5_000, workingSet: 3_800, rss: 3_000, cache: 1_500, mappedFile: 400, swap: 100, maxUsage: 6_000 },
  ...{ activeFile: 300, inactiveFile: 1_200 },
  ...{ kernel: 200, hierarchyPageFaults: 11, hierarchyMajorPageFaults: 2, limit: 8_000, swapLimit: 300 },
};
const DEVICES = [{ device: '8:0', reads: 1, writes: 2, readBytes: 4_096, writeBytes: 8_192 }];
const without = (texts: object, ...names: string[]) =>
  Object.fromEntries(Object.entries(texts).filter(([name]) => !names.includes(name))) as Record<string, string>;

describe('the usage of a cgroup', () => {
  it('of version 2 is that of its files', () => {
    expect(cgroupUsage({ v1: {}, v2: V2 })).toEqual({
      cpu: { ...CPU, shares: 998 },
      memory: { ...MEMORY, failures: undefined, pageFaults: 11, majorPageFaults: 2, reservation: 0 },
      tasks: 6,
      tasksLimit: 'none',
      devices: [...DEVICES],
      oomKills: 1,
      cpuPressure: {
        some: { total: 12, avg10: 1.5, avg60: 0.25, avg300: 0 },
        full: { total: 5, avg10: 0.5, avg60: 0, avg300: 0 },
      },
      memoryPressure: undefined,
      ioPressure: undefined,
    });
  });

  it('of version 1 is that of the files of its controllers, and has no pressure', () => {
    expect(cgroupUsage({ v1: V1, v2: {} })).toEqual({
      cpu: { ...CPU, shares: 1_024 },
      memory: { ...MEMORY, failures: 4, pageFaults: 5, majorPageFaults: 1, reservation: 'none' },
      tasks: 6,
      tasksLimit: 'none',
      devices: DEVICES,
      oomKills: 1,
      cpuPressure: undefined,
      memoryPressure: undefined,
      ioPressure: undefined,
    });
  });

  it.each([
    [
      'without a file has no figure of it, and all others',
      { v1: {}, v2: without(V2, 'memory.stat') },
      undefined,
      5_000,
      1.5e9,
    ],
    ['does not fall below 0', { v1: {}, v2: { ...V2, 'memory.current': '1000\n' } }, 0, 1_000, 1.5e9],
    [
      'with an unreadable number has no figure',
      { v1: {}, v2: { ...V2, 'memory.current': 'x' } },
      undefined,
      undefined,
      1.5e9,
    ],
    [
      'on a hybrid machine has the CPU time of the tree with its processes',
      { v1: { ...V1, 'cpuacct.usage': '0\n' }, v2: { 'cpu.stat': 'usage_usec 4\n' } },
      3_800,
      5_000,
      4_000,
    ],
    [
      'on a hybrid machine without processes in the second tree keeps that of the first',
      { v1: V1, v2: { 'cpu.stat': 'usage_usec 4\n' } },
      3_800,
      5_000,
      1.5e9,
    ],
  ])('%s', (_, texts, workingSet, usage, usageNs) => {
    const { memory, cpu } = cgroupUsage(texts);
    expect({ workingSet: memory.workingSet, usage: memory.usage, usageNs: cpu.usageNs }).toEqual({
      workingSet,
      usage,
      usageNs,
    });
  });

  it('of version 1 has the devices of the scheduler BFQ, where they are counted', () => {
    const bfq = {
      'blkio.bfq.io_service_bytes_recursive': '254:0 Read 1\n254:0 Write 2\nTotal 3\n',
      'blkio.bfq.io_serviced_recursive': '254:0 Read 3\n254:0 Write 4\nTotal 7\n',
    };
    expect(cgroupUsage({ v1: { ...V1, ...bfq }, v2: {} }).devices).toEqual([
      { device: '254:0', reads: 3, writes: 4, readBytes: 1, writeBytes: 2 },
    ]);
  });

  it('without a limit has none, instead of a large number', () => {
    const { memory, cpu } = cgroupUsage({
      v1: { ...V1, 'memory.limit_in_bytes': '9223372036854771712\n', 'cpu.cfs_quota_us': '-1\n' },
      v2: {},
    });
    expect([memory.limit, cpu.quotaMicros, cpu.periods]).toEqual(['none', undefined, undefined]);
    const second = cgroupUsage({ v1: {}, v2: { ...V2, 'memory.max': 'max\n', 'cpu.max': 'max 100000\n' } });
    expect([second.memory.limit, second.cpu.quotaMicros, second.cpu.throttledNs]).toEqual([
      'none',
      undefined,
      undefined,
    ]);
  });
});

it('reads the files of the controllers of a tree, and all under version 2', () => {
  expect(usageFiles({ version: 1, controllers: ['cpu', 'cpuacct'] }, 'basic')).toEqual(['cpuacct.usage']);
  expect(usageFiles({ version: 1, controllers: ['devices'] }, 'full')).toEqual([]);
  expect(usageFiles({ version: 2, controllers: [] }, 'basic')).not.toContain('io.stat');
  expect(usageFiles({ version: 2, controllers: [] }, 'full')).toContain('io.stat');
});
