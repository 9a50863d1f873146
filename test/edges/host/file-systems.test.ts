import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstValueFrom } from 'rxjs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { fileSystems } from '../../../src/host/stats/file-systems.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'file-systems-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const read = () => firstValueFrom(fileSystems({ proc: folder, now: () => 5 })());

it('reads the local file systems once each, with the transfers of their devices, and the one of the root', async () => {
  mkdirSync(join(folder, 'self'));
  const mounts = [
    '21 1 0:19 / / rw - overlay below rw',
    '22 21 0:20 / / rw shared:1 master:2 - overlay overlay rw',
    `23 21 8:1 / ${folder} rw shared:1 - ext4 /dev/sda1 rw`,
    `24 21 8:1 /pods/1 ${folder}/gone rw - ext4 /dev/sda1 rw`,
    `25 21 0:30 / ${folder}/self rw - nfs4 server:/share rw`,
    `26 21 0:31 / ${folder}/self rw - tmpfs tmpfs rw`,
    `27 21 8:2 / ${folder}/gone rw - xfs /dev/sda2 rw`,
  ];
  writeFileSync(join(folder, 'self/mountinfo'), `${mounts.join('\n')}\n`);
  writeFileSync(join(folder, 'diskstats'), '   8       1 sda1 1 2 3 4 5 6 7 8 9 10 11\n');
  const [root, disk, ...others] = await read();
  expect(others).toEqual([]);
  const { blocks, bsize } = statfsSync('/');
  expect(root).toMatchObject({
    ...{ source: 'overlay', device: '0:20', timeMs: 5, transfers: undefined },
    space: { capacityBytes: blocks * bsize },
  });
  expect(disk).toMatchObject({
    ...{ source: '/dev/sda1', device: '8:1', transfers: { reads: 1, weightedMs: 11 } },
    space: { inodes: statfsSync(folder).files },
  });
});

it('reads none without the files of the kernel', async () => {
  expect(await read()).toEqual([]);
});
