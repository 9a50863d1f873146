import { linkSync, mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { deviceOf, directoryUsage, fileSystemUsage } from '../../../src/host/stats/directory-usage.js';
import { machineUsage } from '../../../src/host/stats/machine-usage.js';

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'directory-usage-'))));
afterEach(() => rmSync(folder, { recursive: true }));
const used = (path: string) => firstValueFrom(directoryUsage(() => 5)(path));

it('counts allocated blocks below a directory, and a file with two names once', async () => {
  const empty = await used(folder);
  expect(empty).toMatchObject({ timeMs: 5, inodesUsed: 1 });
  mkdirSync(join(folder, 'a', 'b'), { recursive: true });
  writeFileSync(join(folder, 'a', 'b', 'file'), Buffer.alloc(100_000, 1));
  linkSync(join(folder, 'a', 'b', 'file'), join(folder, 'link'));
  const full = await used(folder);
  expect(full.inodesUsed).toBe(4);
  const grown = full.usedBytes - empty.usedBytes;
  expect(grown).toBeGreaterThanOrEqual(100_000);
  expect(grown).toBeLessThan(200_000);
});

it('the usage of a directory counts files and directories whose names are not UTF-8', async () => {
  const directory = Buffer.from(`${folder}/d\xe9`, 'latin1');
  mkdirSync(directory);
  writeFileSync(Buffer.concat([directory, Buffer.from('/f\xe8', 'latin1')]), Buffer.alloc(100_000, 1));
  const { usedBytes, inodesUsed } = await used(folder);
  expect(inodesUsed).toBe(3);
  expect(usedBytes).toBeGreaterThanOrEqual(100_000);
});

it('returns one device for one file system, and another for another', async () => {
  const [own, below, proc] = await Promise.all(
    [folder, tmpdir(), '/proc'].map((path) => firstValueFrom(deviceOf(path))),
  );
  expect(own).toBe(below);
  expect(proc).not.toBe(own);
  await expect(firstValueFrom(deviceOf(join(folder, 'gone')))).rejects.toThrow('ENOENT');
});

it('fails for a directory that does not exist', async () => {
  await expect(used(join(folder, 'gone'))).rejects.toThrow('ENOENT');
  await expect(firstValueFrom(fileSystemUsage(join(folder, 'gone')))).rejects.toThrow('ENOENT');
});

it('has the space of a file system', async () => {
  const { blocks, bsize, files } = statfsSync(folder);
  const space = await firstValueFrom(fileSystemUsage(folder));
  expect(space).toMatchObject({ capacityBytes: blocks * bsize, inodes: files });
  expect(space.usedBytes + space.availableBytes).toBeLessThanOrEqual(space.capacityBytes);
});

it('reads the machine, and leaves out what it cannot read', async () => {
  const proc = join(folder, 'proc');
  mkdirSync(join(proc, 'self'), { recursive: true });
  mkdirSync(join(proc, 'sys/kernel'), { recursive: true });
  const read = () => firstValueFrom(machineUsage({ proc, sys: join(folder, 'sys'), now: () => 5 })());
  expect(await read()).toMatchObject({
    timeMs: 5,
    network: undefined,
    tasks: undefined,
    bootedAtMs: undefined,
    ownCgroup: undefined,
  });
  writeFileSync(join(proc, 'stat'), 'cpu  100 0 0 5 0 0 0 0 0 0\nbtime 1700000000\n');
  writeFileSync(join(proc, 'meminfo'), 'MemTotal: 8 kB\nMemFree: 2 kB\n');
  writeFileSync(join(proc, 'loadavg'), '0.20 0.18 0.12 1/180 11\n');
  writeFileSync(join(proc, 'sys/kernel/pid_max'), '32768\n');
  writeFileSync(join(proc, 'self/cgroup'), '5:cpu:/x\n4:memory:/agent\n0::/\n');
  expect(await read()).toMatchObject({
    bootedAtMs: 1_700_000_000_000,
    ownCgroup: '/agent',
    tasks: { most: 32_768, current: 180 },
    totals: { cpuNs: 1e9, memory: { total: 8_192 } },
  });
});
