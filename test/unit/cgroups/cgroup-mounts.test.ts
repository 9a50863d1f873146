import { describe, expect, it } from 'vitest';
import { type CgroupMounts, cgroupMounts } from '../../../src/model/cgroups/cgroup-mounts.js';

const v1 = (mountPoint: string, ...controllers: string[]) => ({ mountPoint, controllers, version: 1 as const });
const v2 = (mountPoint: string) => ({ mountPoint, controllers: [], version: 2 as const });

describe('the trees of cgroups', () => {
  it.each<[row: string, lines: readonly string[], mounts: CgroupMounts]>([
    [
      'cgroup v2 alone',
      [
        '22 1 0:20 / / rw - ext4 /dev/sda1 rw',
        '30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot',
      ],
      { version: 2, hierarchies: [v2('/sys/fs/cgroup')] },
    ],
    [
      'cgroup v1, controllers mounted together, and a tree that only has a name',
      [
        '25 24 0:22 / /sys/fs/cgroup ro - tmpfs tmpfs ro,mode=755',
        '26 25 0:23 / /sys/fs/cgroup/systemd rw shared:9 - cgroup cgroup rw,xattr,release_agent=/lib/systemd/x,name=systemd',
        '29 25 0:26 / /sys/fs/cgroup/cpu,cpuacct rw shared:11 - cgroup cgroup rw,cpu,cpuacct',
        '30 25 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory',
      ],
      {
        version: 1,
        hierarchies: [
          v1('/sys/fs/cgroup/memory', 'memory'),
          v1('/sys/fs/cgroup/systemd', 'name=systemd'),
          v1('/sys/fs/cgroup/cpu,cpuacct', 'cpu', 'cpuacct'),
        ],
      },
    ],
    [
      'hybrid: cgroup v2 without controllers beside v1',
      [
        '32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
        '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
      ],
      { version: 1, hierarchies: [v1('/sys/fs/cgroup/cpu', 'cpu'), v2('/sys/fs/cgroup/unified')] },
    ],
    [
      'cgroup v2 with the controllers, beside a tree of v1 that only has a name',
      [
        '40 31 0:37 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,name=systemd',
        '41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw',
      ],
      { version: 2, hierarchies: [v2('/sys/fs/cgroup/unified')] },
    ],
    [
      'a tree that is mounted several times: all of it goes before a part, and a short path before a long one',
      [
        '32 31 0:29 /docker/1 /cg rw - cgroup cgroup rw,cpu',
        '33 31 0:29 / /var/lib/elsewhere/cpu rw - cgroup cgroup rw,cpu',
        '34 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu',
      ],
      { version: 1, hierarchies: [v1('/sys/fs/cgroup/cpu', 'cpu')] },
    ],
    [
      'only a part of the tree, as in a container that shares the namespace of the machine',
      ['32 31 0:29 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup rw'],
      { version: 2, hierarchies: [v2('/sys/fs/cgroup')] },
    ],
    [
      'a mount of another namespace, from above the root of ours, is none of ours',
      ['32 31 0:29 /../.. /outside rw - cgroup2 cgroup rw', '33 31 0:29 / /sys/fs/cgroup rw - cgroup2 cgroup rw'],
      { version: 2, hierarchies: [v2('/sys/fs/cgroup')] },
    ],
    [
      'a path with a blank',
      ['33 31 0:29 / /my\\040cgroups rw - cgroup2 cgroup rw'],
      { version: 2, hierarchies: [v2('/my cgroups')] },
    ],
  ])('%s', (_, lines, mounts) => expect(cgroupMounts(`${lines.join('\n')}\n`)).toEqual(mounts));

  it('are missing where nothing is mounted', () => {
    expect(() => cgroupMounts('22 1 0:20 / / rw - ext4 /dev/sda1 rw\n')).toThrow(
      'no cgroup file system is mounted: expected one below /sys/fs/cgroup',
    );
  });
});
