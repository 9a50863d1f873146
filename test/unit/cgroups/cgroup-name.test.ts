import { fc, it as property } from '@fast-check/vitest';
import { describe, expect, it } from 'vitest';
import {
  type CgroupDriver,
  cgroupPath,
  childCgroup,
  parseCgroupPath,
  systemdSlice,
} from '../../../src/model/cgroups/cgroup-name.js';

describe('the path of a cgroup', () => {
  it.each<[row: string, name: readonly string[], cgroupfs: string, systemd: string]>([
    ['the root', [], '/', '/'],
    ['what holds all pods', ['kubepods'], '/kubepods', '/kubepods.slice'],
    ['a guaranteed pod', ['kubepods', 'poda-b'], '/kubepods/poda-b', '/kubepods.slice/kubepods-poda_b.slice'],
    ['a class', ['kubepods', 'burstable'], '/kubepods/burstable', '/kubepods.slice/kubepods-burstable.slice'],
    [
      'a burstable pod',
      ['kubepods', 'burstable', 'pod1-2'],
      '/kubepods/burstable/pod1-2',
      '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice',
    ],
    [
      'a pod below a root of ours',
      ['my-root', 'kubepods', 'besteffort', 'pod1'],
      '/my-root/kubepods/besteffort/pod1',
      '/my_root.slice/my_root-kubepods.slice/my_root-kubepods-besteffort.slice/my_root-kubepods-besteffort-pod1.slice',
    ],
  ])('of %s, both ways', (_, name, cgroupfs, systemd) => {
    expect(cgroupPath('cgroupfs', name)).toBe(cgroupfs);
    expect(cgroupPath('systemd', name)).toBe(systemd);
    expect(parseCgroupPath('cgroupfs', cgroupfs)).toEqual(name);
    expect(parseCgroupPath('systemd', systemd)).toEqual(name);
  });

  const part = fc.stringMatching(/^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/);
  property.prop([fc.constantFrom<CgroupDriver>('cgroupfs', 'systemd'), fc.array(part, { maxLength: 5 })])(
    'leads back to the name',
    (driver, parts) => {
      expect(parseCgroupPath(driver, cgroupPath(driver, childCgroup([], ...parts)))).toEqual(parts);
    },
  );

  it.each<[path: string, cgroupfs: readonly string[], systemd: readonly string[]]>([
    ['/system.slice', ['system.slice'], ['system']],
    ['system.slice/', ['system.slice'], ['system']],
    ['/', [], []],
    ['', [], []],
    ['-.slice', ['-.slice'], []],
  ])('is read from %j as people write it', (path, cgroupfs, systemd) => {
    expect(parseCgroupPath('cgroupfs', path)).toEqual(cgroupfs);
    expect(parseCgroupPath('systemd', path)).toEqual(systemd);
  });
});

describe('a slice', () => {
  it.each<[name: readonly string[], slice: string]>([
    [[], '-.slice'],
    [['kubepods'], 'kubepods.slice'],
    [['kubepods', 'pod1-2'], 'kubepods-pod1_2.slice'],
  ])('of %j is %s', (name, slice) => expect(systemdSlice(name)).toBe(slice));
});

it.each(['a/b', 'a_b', '', '.', '..'])('%j cannot be part of a name', (part) => {
  expect(() => childCgroup(['kubepods'], part)).toThrow(
    `${JSON.stringify(part)} cannot be part of the name of a cgroup: expected a name without "/" and "_"`,
  );
});
