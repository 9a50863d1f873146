import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { asyncScheduler, lastValueFrom } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cgroupCapacity, hostCgroups, isCgroupV1 } from '../../../src/host/cgroups/host-cgroups.js';
import { cgroupfs } from '../../../src/host/cgroups/cgroupfs.js';
import { cgroupV2 } from '../../../src/host/cgroups/cgroup-v2.js';
import type { CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';
import { isAlive, processId } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { destroyCgroup } from '../../../src/streams/cgroups/destroy-cgroup.js';
import type { Cgroups } from '../../../src/streams/ports/cgroups.js';
import { isRoot } from '../../embedded/daemon.js';
import { eventually } from '../../embedded/eventually.js';
import { all, CgroupStage, mounts, read } from './cgroup-stage.js';

const MEBI = 1n << 20n;
const unified = mounts.hierarchies.find(({ version }) => version === 2);

/** The tests below need a kernel to ask. Without root they are skipped, and in CI they fail. */
const onThisMachine = isRoot || process.env.CI === 'true' ? describe : describe.skip;

/** Tests that only a kernel with that version of cgroups can answer; elsewhere they do not exist. */
const under =
  (version: 1 | 2) =>
  (name: string, test: () => Promise<void>): void => {
    if (mounts.version === version) it(name, test);
  };
const [underV1, underV2] = [under(1), under(2)];

onThisMachine('cgroups of this machine', () => {
  let stage: CgroupStage;
  let cgroups: Cgroups;
  beforeEach(() => {
    stage = new CgroupStage();
    cgroups = hostCgroups('cgroupfs');
  });
  afterEach(() => stage.dispose());
  const pod = () => [stage.name, 'kubepods', 'burstable', 'poduid-1'];
  const resources = { cpuShares: 512, cpuQuota: 50_000, cpuPeriod: 100_000, memory: 64n * MEBI, pids: 100n };
  const isMade = async (name: readonly string[]) => (await lastValueFrom(cgroups.missing(name))).length === 0;

  it('are those that the kernel has mounted', () => {
    expect(cgroups.version).toBe(isCgroupV1() ? 1 : 2);
    const controllers = ['cpu', 'memory', 'pids', 'cpuset'];
    if (mounts.version === 1) for (const controller of controllers) expect(existsSync(stage.in(controller))).toBe(true);
    else
      expect(read(mounts.hierarchies[0]?.mountPoint ?? '', 'cgroup.controllers').split(' ')).toEqual(
        expect.arrayContaining(controllers),
      );
  });

  it('are made in every tree with what is above them, and are there then', async () => {
    expect(await isMade(pod())).toBe(false);
    expect(await all(cgroups.create(pod(), {}))).toEqual([]);
    expect(await isMade(pod())).toBe(true);
    for (const directory of stage.directories) {
      expect(existsSync(join(directory, 'kubepods/burstable/poduid-1'))).toBe(true);
    }
    // Again does no harm.
    expect(await all(cgroups.create(pod(), {}))).toEqual([]);
  });

  underV1('are not there when one tree lacks them, and name it', async () => {
    await all(cgroups.create(pod(), {}));
    const lost = join(stage.in('memory'), 'kubepods/burstable/poduid-1');
    rmdirSync(lost);
    expect(await lastValueFrom(cgroups.missing(pod()))).toEqual([lost]);
    // A tree that is none of the needed ones does not count.
    await all(cgroups.create(pod(), {}));
    rmdirSync(join(stage.in('freezer'), 'kubepods/burstable/poduid-1'));
    expect(await isMade(pod())).toBe(true);
  });

  underV1('hold what is written, under the names of cgroup v1', async () => {
    expect(await all(cgroups.create(pod(), resources))).toEqual([]);
    const file = (controller: string, name: string) => read(stage.in(controller), 'kubepods/burstable/poduid-1', name);
    expect(file('cpu', 'cpu.shares')).toBe('512');
    expect(file('cpu', 'cpu.cfs_quota_us')).toBe('50000');
    expect(file('cpu', 'cpu.cfs_period_us')).toBe('100000');
    expect(file('memory', 'memory.limit_in_bytes')).toBe('67108864');
    expect(file('pids', 'pids.max')).toBe('100');
    // A process can be put into it only when it has CPUs and memory nodes.
    expect(file('cpuset', 'cpuset.cpus')).toBe(read(stage.in('cpuset'), 'cpuset.cpus'));
    expect(file('cpuset', 'cpuset.mems')).toBe(read(stage.in('cpuset'), 'cpuset.mems'));
    await all(cgroups.update(pod(), { cpuShares: 2, cpuQuota: -1, cpuPeriod: 20_000, memory: 128n * MEBI }));
    expect(['cpu.shares', 'cpu.cfs_quota_us', 'cpu.cfs_period_us'].map((name) => file('cpu', name))).toEqual([
      '2',
      '-1',
      '20000',
    ]);
    expect(file('memory', 'memory.limit_in_bytes')).toBe('134217728');
  });

  underV1('get CPUs and memory nodes also below one that another process has left without any', async () => {
    const tree = stage.in('cpuset');
    mkdirSync(join(tree, 'kubepods/burstable'), { recursive: true });
    expect(read(tree, 'kubepods/cpuset.cpus')).toBe('');
    await all(cgroups.create(pod(), {}));
    for (const level of ['kubepods', 'kubepods/burstable', 'kubepods/burstable/poduid-1']) {
      for (const file of ['cpuset.cpus', 'cpuset.mems']) expect(read(tree, level, file)).toBe(read(tree, file));
    }
  });

  underV1('change period and quota in the order that the kernel wants', async () => {
    // 90 ms of 100 ms; a period of 50 ms is only possible below a limit of 100 % once the quota has shrunk.
    const above = [stage.name, 'kubepods'];
    await all(cgroups.create(above, { cpuQuota: 100_000, cpuPeriod: 100_000 }));
    await all(cgroups.create(pod(), { cpuQuota: 90_000, cpuPeriod: 100_000 }));
    await all(cgroups.update(pod(), { cpuQuota: 45_000, cpuPeriod: 50_000 }));
    const file = (name: string) => read(stage.in('cpu'), 'kubepods/burstable/poduid-1', name);
    expect([file('cpu.cfs_period_us'), file('cpu.cfs_quota_us')]).toEqual(['50000', '45000']);
  });

  underV2('hold what is written, under the names of cgroup v2', async () => {
    expect(await all(cgroups.create(pod(), resources))).toEqual([]);
    const file = (name: string) => read(stage.in(''), 'kubepods/burstable/poduid-1', name);
    expect(file('cpu.weight')).toBe('20');
    expect(file('cpu.max')).toBe('50000 100000');
    expect(file('memory.max')).toBe('67108864');
    expect(file('pids.max')).toBe('100');
    await all(cgroups.update(pod(), { cpuShares: 2, cpuQuota: -1, cpuPeriod: 20_000 }));
    expect([file('cpu.weight'), file('cpu.max')]).toEqual(['1', 'max 20000']);
  });

  it('show what they have, and no limit where there is none', async () => {
    expect(await lastValueFrom(cgroups.read(pod()))).toBeUndefined();
    await all(cgroups.create(pod(), {}));
    const weight = mounts.version === 2 ? { cpuWeight: 100 } : { cpuShares: 1024 };
    const kept = mounts.version === 2 ? { memoryMin: 0n, memoryLow: 0n, memoryHigh: -1n } : {};
    expect(await lastValueFrom(cgroups.read(pod()))).toEqual({
      ...{ ...weight, ...kept, memory: undefined, cpuQuota: -1 },
      memoryUsage: expect.any(BigInt) as bigint,
    });
    await all(cgroups.update(pod(), resources));
    const changed = mounts.version === 2 ? { cpuWeight: 20 } : { cpuShares: 512 };
    expect(await lastValueFrom(cgroups.read(pod()))).toMatchObject({
      ...changed,
      memory: 64n * MEBI,
      cpuQuota: 50_000,
    });
  });

  it('say what the kernel refuses: only that when they are made, as an error when they are changed', async () => {
    const impossible = { ...resources, cpuQuota: 10 };
    const problems = await all(cgroups.create(pod(), impossible));
    expect(problems).toEqual([
      expect.stringMatching(/(cpu\.cfs_quota_us: 10|cpu\.max: 10 100000) was refused: /) as string,
    ]);
    expect(await isMade(pod())).toBe(true);
    await expect(all(cgroups.update(pod(), impossible))).rejects.toThrow('was refused');
    await expect(all(cgroups.update([stage.name, 'nobody'], { cpuShares: 2 }))).rejects.toThrow('ENOENT');
    // Nothing was made by writing.
    expect(await lastValueFrom(cgroups.children([stage.name]))).toEqual([[stage.name, 'kubepods']]);
  });

  it('list what is below them, each once, and nothing where there is nothing', async () => {
    await all(cgroups.create(pod(), {}));
    await all(cgroups.create([stage.name, 'kubepods', 'burstable', 'poduid-2'], {}));
    const below = await lastValueFrom(cgroups.children(pod().slice(0, 3)));
    expect(below.map((name) => name.at(-1)).toSorted()).toEqual(['poduid-1', 'poduid-2']);
    expect(below[0]?.slice(0, -1)).toEqual(pod().slice(0, 3));
    expect(await lastValueFrom(cgroups.children([stage.name, 'nobody']))).toEqual([]);
  });

  it('are destroyed with every process and every cgroup below, and need not be there', async () => {
    await all(cgroups.create(pod(), {}));
    await all(cgroups.create([...pod(), 'container', 'nested'], {}));
    const tree = mounts.version === 1 ? 'pids' : '';
    const own = join(stage.in(tree), 'kubepods/burstable/poduid-1');
    const pids = [
      // Of a cgroup v2 that hands controllers on only the last ones may have processes.
      await stage.processIn(mounts.version === 1 ? own : join(own, 'container/nested')),
      await stage.processIn(join(own, 'container/nested')),
    ];
    const processes = pids.map((pid) => processId(pid)).filter((process) => process !== undefined);
    expect(processes).toHaveLength(2);
    await expect(all(cgroups.remove(pod()))).rejects.toThrow('EBUSY');
    expect(processes.every(isAlive)).toBe(true);
    await eventually('all is gone', async () => {
      await all(destroyCgroup(cgroups, pod(), asyncScheduler));
      return true;
    });
    expect(processes.some(isAlive)).toBe(false);
    for (const directory of stage.directories) {
      expect(readdirSync(join(directory, 'kubepods/burstable')).filter((name) => name.startsWith('pod'))).toEqual([]);
    }
    await all(destroyCgroup(cgroups, pod(), asyncScheduler));
    expect(await isMade(pod().slice(0, 3))).toBe(true);
  });

  it('are destroyed although a process keeps starting others', async () => {
    await all(cgroups.create(pod(), {}));
    const own = join(stage.in(mounts.version === 1 ? 'pids' : ''), 'kubepods/burstable/poduid-1');
    await stage.processIn(own, "sh -c 'while :; do sleep 0.01 & sleep 0.005; done'");
    await eventually('it is gone', async () => {
      await all(destroyCgroup(cgroups, pod(), asyncScheduler));
      return true;
    });
    expect(existsSync(own)).toBe(false);
  });

  it('are destroyed while another process destroys them, too', async () => {
    const many = Array.from({ length: 10 }, (_, index) => [...pod(), `container-${index}`]);
    for (const name of many) await all(cgroups.create(name, {}));
    await Promise.all([1, 2, 3].map(() => all(destroyCgroup(cgroups, pod(), asyncScheduler))));
    expect(await lastValueFrom(cgroups.children(pod().slice(0, 3)))).toEqual([]);
  });
});

/** The files that a kernel has in a cgroup of v2, in a directory: what is written and read, without its effect. */
describe('the files of a cgroup of v2', () => {
  const KERNEL = { 'memory.max': 'max', 'memory.min': '0', 'memory.low': '0', 'memory.high': 'max' };
  const files = { 'cgroup.controllers': 'cpu memory', 'cpu.max': 'max 100000', 'cpu.weight': '100', ...KERNEL };
  let mountPoint: string;
  beforeEach(() => {
    mountPoint = mkdtempSync(join(tmpdir(), 'rx-v2-'));
    writeFileSync(join(mountPoint, 'cgroup.controllers'), 'cpu memory\n');
    mkdirSync(join(mountPoint, 'pod'));
    for (const [name, content] of Object.entries({ ...files, 'memory.current': '8192' }))
      writeFileSync(join(mountPoint, 'pod', name), `${content}\n`);
  });
  afterEach(() => rmSync(mountPoint, { recursive: true }));
  const contents = () => Object.keys(KERNEL).map((name) => read(mountPoint, 'pod', name));

  it('hold the memory that is kept and throttled, until it is taken back', async () => {
    const cgroups = cgroupfs(cgroupV2({ mountPoint, controllers: [], version: 2 }, []));
    const write = (resources: CgroupResources) => all(cgroups.update(['pod'], resources));
    const shown = async () => {
      const { memoryMin, memoryLow, memoryHigh } = (await lastValueFrom(cgroups.read(['pod']))) ?? {};
      return [memoryMin, memoryLow, memoryHigh];
    };
    expect(await shown()).toEqual([0n, 0n, -1n]);

    await write({ memoryMin: 4096n, memoryLow: 8192n, memoryHigh: 12_288n });
    expect(contents()).toEqual(['max', '4096', '8192', '12288']);
    expect(await shown()).toEqual([4096n, 8192n, 12_288n]);

    await write({ cpuShares: 1024 });
    expect(contents()).toEqual(['max', '4096', '8192', '12288']);

    // The kernel has a new value in a file; a directory would keep the end of the longer one.
    for (const name of Object.keys(KERNEL)) writeFileSync(join(mountPoint, 'pod', name), '');
    await write({ memoryMin: 0n, memoryLow: 0n, memoryHigh: -1n });
    expect(contents()).toEqual(['', '0', '0', 'max']);
    writeFileSync(join(mountPoint, 'pod', 'memory.low'), 'max\n');
    expect(await shown()).toEqual([0n, 2n ** 62n, -1n]);
  });
});

/** The tree of cgroup v2 that this machine has beside v1, or as its only one. Controllers are not needed for any of this. */
onThisMachine('cgroup v2 on a tree of this machine', () => {
  let stage: CgroupStage;
  beforeEach(() => (stage = new CgroupStage()));
  afterEach(() => stage.dispose());
  const tree = () => {
    if (!unified) throw new Error('this machine has no tree of cgroup v2, which the test needs');
    return cgroupfs(cgroupV2(unified, []));
  };

  it('makes, finds, empties and removes', async () => {
    const cgroups = tree();
    const name = [stage.name, 'kubepods', 'poduid-1'];
    const directory = join(stage.in(''), 'kubepods/poduid-1');
    expect(await lastValueFrom(cgroups.missing(name))).toEqual([directory]);
    expect(await all(cgroups.create(name, {}))).toEqual([]);
    expect(await lastValueFrom(cgroups.missing(name))).toEqual([]);
    expect(await lastValueFrom(cgroups.children([stage.name]))).toEqual([[stage.name, 'kubepods']]);
    mkdirSync(join(directory, 'nested'));
    const process = processId(await stage.processIn(join(directory, 'nested')));
    await all(destroyCgroup(cgroups, name, asyncScheduler));
    expect(process && isAlive(process)).toBe(false);
    expect(existsSync(directory)).toBe(false);
  });

  it('hands on the controllers that there are, down to what is above the new one', async () => {
    const cgroups = tree();
    const name = [stage.name, 'kubepods', 'poduid-1'];
    await all(cgroups.create(name, {}));
    const controllers = read(unified?.mountPoint ?? '', 'cgroup.controllers');
    for (const above of ['', 'kubepods']) {
      const handedOn = read(stage.in(''), above, 'cgroup.subtree_control').split(' ').toSorted();
      expect(handedOn).toEqual(controllers.split(' ').toSorted());
    }
    expect(read(stage.in(''), 'kubepods/poduid-1', 'cgroup.subtree_control')).toBe('');
  });

  it('refuses a file that the kernel does not have, and makes none', async () => {
    const cgroups = tree();
    const name = [stage.name, 'kubepods'];
    if (read(unified?.mountPoint ?? '', 'cgroup.controllers').includes('memory')) {
      writeFileSync(join(stage.in(''), 'cgroup.subtree_control'), '-memory');
    }
    mkdirSync(join(stage.in(''), 'kubepods'));
    await expect(all(cgroups.update(name, { memory: MEBI }))).rejects.toThrow(
      /memory\.max: 1048576 was refused: ENOENT/,
    );
  });
});

it('the capacity of this machine is what the kernel says', () => {
  const capacity = cgroupCapacity();
  const perUnit = 1_000_000_000n;
  const kibibytes = BigInt(/^MemTotal:\s+(\d+) kB/m.exec(read('/proc/meminfo'))?.[1] ?? 0);
  expect(capacity.get('memory')).toBe(kibibytes * 1024n * perUnit);
  const processors = read('/proc/cpuinfo').match(/^processor\s/gm)?.length ?? 0;
  expect(capacity.get('cpu')).toBe(BigInt(processors) * perUnit);
  const tasks = ['pid_max', 'threads-max'].map((name) => Number(read('/proc/sys/kernel', name)));
  expect(capacity.get('pid')).toBe(BigInt(Math.min(...tasks)) * perUnit);
});
