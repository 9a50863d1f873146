import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { describe, expect, it as baseIt } from 'vitest';
import type { UsageDetail } from '../../../src/model/stats/cgroup-usage.js';
import { readCgroups } from '../../../src/host/stats/read-cgroups.js';
import type { WantedCgroup } from '../../../src/model/stats/readings.js';

const it = baseIt.extend<{ folder: string }>({
  folder: async ({}, use) => {
    const folder = mkdtempSync(join(tmpdir(), 'read-cgroups-'));
    try {
      await use(folder);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
});

const UID = '0b7f4b6e-1111-2222-3333-444455556666';
const write = (directory: string, files: Readonly<Record<string, string>>): void => {
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text);
};
const v2Files = (micros: number, pids: readonly number[] = []) => ({
  'cpu.stat': `usage_usec ${micros}\n`,
  'memory.current': '500\n',
  'memory.stat': 'inactive_file 100\n',
  'cgroup.procs': pids.map((pid) => `${pid}\n`).join(''),
});

/** A tree of cgroup v2 as systemd and containerd make it, and process files of one container. */
const treeV2 = (folder: string) => {
  const mountPoint = join(folder, 'cgroup');
  const pod = join(
    mountPoint,
    'kubepods.slice',
    'kubepods-burstable.slice',
    `kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice`,
  );
  write(mountPoint, { 'cpu.stat': 'usage_usec 900\n' });
  write(pod, v2Files(70));
  const container = join(pod, 'cri-containerd-abc123.scope');
  write(container, v2Files(40, [77, 78]));
  const proc = join(folder, 'proc');
  mkdirSync(join(proc, '77', 'fd'), { recursive: true });
  for (const [fd, link] of ['pipe:[1]', 'socket:[2]'].entries()) symlinkSync(link, join(proc, '77', 'fd', String(fd)));
  write(join(proc, '77', 'net'), { dev: '  eth0: 1 2 0 0 0 0 0 0 3 4 0 0 0 0 0 0\n' });
  for (const [pid, space] of [
    ['77', 'net:[1]'],
    ['self', 'net:[2]'],
  ] as const) {
    mkdirSync(join(proc, pid, 'ns'), { recursive: true });
    symlinkSync(space, join(proc, pid, 'ns', 'net'));
  }
  return { mountPoint, pod, container, proc };
};
const POD_KEY = `pod${UID}`;
const ALL: readonly WantedCgroup[] = [
  { key: '/' },
  { key: POD_KEY },
  { key: 'abc123', hasProcesses: true },
  { key: 'missing' },
];

const readerOf = (
  { mountPoint, proc }: { mountPoint: string; proc: string },
  read?: (path: string) => string,
  now = () => 5,
) => {
  const reader = readCgroups({
    mounts: { version: 2, hierarchies: [{ mountPoint, version: 2, controllers: [] }] },
    proc,
    now,
    ...(read && { read }),
  });
  return (wanted = ALL, detail: UsageDetail = 'full') => firstValueFrom(reader(wanted, detail));
};

describe('cgroups of version 2', () => {
  it('are found by the names of their directories, with processes and network', async ({ folder }) => {
    const { cgroups, problems } = await readerOf(treeV2(folder))();
    expect(problems).toEqual([]);
    expect([...cgroups.keys()]).toEqual(['/', POD_KEY, 'abc123']);
    expect(cgroups.get('/')?.usage.cpu.usageNs).toBe(900_000);
    expect(cgroups.get(POD_KEY)).toMatchObject({
      timeMs: 5,
      usage: { memory: { workingSet: 400 } },
      processes: undefined,
    });
    expect(cgroups.get('abc123')).toMatchObject({
      id: `/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod${UID.replaceAll('-', '_')}.slice/cri-containerd-abc123.scope`,
      processes: 2,
      openFiles: { descriptors: 2, sockets: 1, softLimit: undefined },
      usage: { cpu: { usageNs: 40_000 } },
      network: { defaultInterface: 'eth0', interfaces: [{ name: 'eth0', rxBytes: 1, txPackets: 4 }] },
    });
  });

  it('report when they were made, by the lower time of the directory and its events', async ({ folder }) => {
    const tree = treeV2(folder);
    const events = join(tree.container, 'cgroup.events');
    writeFileSync(events, 'populated 1\n');
    const madeAt = async (hasCreation: boolean) =>
      (await readerOf(tree)([{ key: 'abc123', hasCreation }])).cgroups.get('abc123')?.createdAtMs;
    utimesSync(events, 1_000, 1_000);
    // A cgroup that is made in it changes the time of the directory.
    utimesSync(tree.container, 2_000, 2_000);
    expect(await madeAt(true)).toBe(1_000_000);
    utimesSync(tree.container, 500, 500);
    expect(await madeAt(true)).toBe(500_000);
    expect(await madeAt(false)).toBeUndefined();
    rmSync(events);
    expect(await madeAt(true)).toBeGreaterThan(500_000);
  });

  it('are asked for open descriptors in full detail alone', async ({ folder }) => {
    const { cgroups } = await readerOf(treeV2(folder))(ALL, 'basic');
    expect(cgroups.get('abc123')).toMatchObject({ processes: 2, openFiles: undefined });
  });

  it('in the network of the node have no network', async ({ folder }) => {
    const tree = treeV2(folder);
    rmSync(join(tree.proc, '77', 'ns', 'net'));
    symlinkSync('net:[2]', join(tree.proc, '77', 'ns', 'net'));
    expect((await readerOf(tree)()).cgroups.get('abc123')?.network).toBeUndefined();
  });

  it('that end between their listing and their read are left out, and found again elsewhere', async ({ folder }) => {
    const tree = treeV2(folder);
    const sample = readerOf(tree);
    await sample();
    rmSync(tree.container, { recursive: true });
    const { cgroups, problems } = await sample();
    expect([[...cgroups.keys()], problems]).toEqual([['/', POD_KEY], []]);
    write(join(tree.mountPoint, 'elsewhere', 'abc123'), v2Files(41));
    expect((await sample()).cgroups.get('abc123')?.usage.cpu.usageNs).toBe(41_000);
  });

  it('that vanish in the middle of their files keep the figures that were read', async ({ folder }) => {
    const tree = treeV2(folder);
    const sample = readerOf(tree, (path) => {
      if (path.startsWith(tree.container) && path.endsWith('memory.stat'))
        throw Object.assign(new Error('gone'), { code: 'ENODEV' });
      return readFileSync(path, 'utf8');
    });
    const { cgroups, problems } = await sample();
    expect(problems).toEqual([]);
    expect(cgroups.get('abc123')?.usage).toMatchObject({
      cpu: { usageNs: 40_000 },
      memory: { usage: 500, workingSet: undefined },
    });
    expect(cgroups.get(POD_KEY)?.usage.memory.workingSet).toBe(400);
  });

  it('with a file that cannot be read lack its figures alone, and the fault is reported', async ({ folder }) => {
    const tree = treeV2(folder);
    const sample = readerOf(tree, (path) => {
      if (path === join(tree.container, 'cpu.stat'))
        throw Object.assign(new Error('input/output error'), { code: 'EIO' });
      return readFileSync(path, 'utf8');
    });
    const { cgroups, problems } = await sample();
    expect(problems).toEqual([`${tree.container}/cpu.stat: input/output error`]);
    expect(cgroups.get('abc123')?.usage).toMatchObject({ cpu: { usageNs: undefined }, memory: { workingSet: 400 } });
    expect(cgroups.get(POD_KEY)?.usage.cpu.usageNs).toBe(70_000);
  });

  it('that do not exist are looked for once, and again after a minute', async ({ folder }) => {
    let now = 0;
    const tree = treeV2(folder);
    const sample = readerOf(tree, undefined, () => now);
    await sample();
    write(join(tree.mountPoint, 'missing'), v2Files(3));
    expect((await sample()).cgroups.has('missing')).toBe(false);
    now = 60_000;
    expect((await sample()).cgroups.get('missing')?.usage.cpu.usageNs).toBe(3_000);
  });
});

describe('cgroups of version 1', () => {
  it('are read from the tree of each controller, in which their paths may differ', async ({ folder }) => {
    const [cpu, memory, unified] = ['cpu', 'memory', 'unified'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    write(join(cpu, 'a', 'abc123'), { 'cpuacct.usage': '0\n', 'cpu.shares': '2\n', 'cgroup.procs': '' });
    write(join(memory, 'b', 'abc123'), {
      'memory.usage_in_bytes': '500\n',
      'memory.stat': 'total_inactive_file 100\n',
      'cgroup.procs': '77\n',
    });
    write(join(unified, 'abc123'), { 'cpu.stat': 'usage_usec 6\n', 'cgroup.procs': '77\n' });
    const reader = readCgroups({
      mounts: {
        version: 1,
        hierarchies: [
          { mountPoint: cpu, version: 1, controllers: ['cpu', 'cpuacct'] },
          { mountPoint: memory, version: 1, controllers: ['memory'] },
          { mountPoint: unified, version: 2, controllers: [] },
        ],
      },
      proc: join(folder, 'proc'),
      now: () => 5,
    });
    const { cgroups, problems } = await firstValueFrom(reader([{ key: 'abc123', hasProcesses: true }], 'full'));
    expect(problems).toEqual([]);
    expect(cgroups.get('abc123')).toMatchObject({
      id: '/b/abc123',
      processes: 1,
      network: undefined,
      usage: { cpu: { usageNs: 6_000, shares: 2 }, memory: { workingSet: 400 } },
    });
  });
});
