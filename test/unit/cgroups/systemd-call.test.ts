import { describe, expect, it } from 'vitest';
import type { CgroupResources } from '../../../src/model/cgroups/cgroup-resources.js';
import {
  isUnitGone,
  isUnitThere,
  printedString,
  printedVersion,
  setSliceArgs,
  sliceStateArgs,
  startSliceArgs,
  stopSliceArgs,
  type SystemdFeatures,
  systemdVersionArgs,
} from '../../../src/host/cgroups/systemd-call.js';

const POD = ['kubepods', 'burstable', 'pod1-2'];
const SLICE = 'kubepods-burstable-pod1_2.slice';
const v2: SystemdFeatures = { cgroupVersion: 2, systemdVersion: 252 };
const v1: SystemdFeatures = { cgroupVersion: 1, systemdVersion: 252 };
const MANAGER = 'org.freedesktop.systemd1 /org/freedesktop/systemd1 org.freedesktop.systemd1.Manager';

describe('a slice is made', () => {
  it('with what systemd has to account for, in the slice above', () => {
    expect(startSliceArgs(POD, v2, { cpuShares: 1024 }).join(' ')).toBe(
      `--system -- call ${MANAGER} StartTransientUnit ssa(sv)a(sa(sv)) ${SLICE} replace 8 ` +
        `Description s cgroup of pods ${SLICE} Wants as 1 kubepods-burstable.slice ` +
        'MemoryAccounting b true CPUAccounting b true IOAccounting b true TasksAccounting b true ' +
        'DefaultDependencies b false CPUWeight t 39 0',
    );
  });

  it('below the root when it is the first', () => {
    expect(startSliceArgs(['kubepods'], v2, {}).join(' ')).toContain('Wants as 1 -.slice ');
  });

  it('under cgroup v1 with other accounting', () => {
    expect(startSliceArgs(POD, v1, {})).toContain('BlockIOAccounting');
  });
});

describe('the limits of a slice', () => {
  const GIBI = 1n << 30n;
  it.each<[row: string, CgroupResources, v2: string, v1: string]>([
    ['nothing', {}, '0', '0'],
    ['weight', { cpuShares: 1024 }, '1 CPUWeight t 39', '1 CPUShares t 1024'],
    ['memory', { memory: GIBI }, '1 MemoryMax t 1073741824', '1 MemoryLimit t 1073741824'],
    ['tasks', { pids: 50n }, '1 TasksMax t 50', '1 TasksMax t 50'],
    [
      'half a CPU',
      { cpuQuota: 50_000, cpuPeriod: 100_000 },
      '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 500000',
      '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 500000',
    ],
    [
      'a share of a CPU that systemd cannot say: rounded up',
      { cpuQuota: 12_345, cpuPeriod: 100_000 },
      '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 130000',
      '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 130000',
    ],
    [
      'as much CPU time as there is',
      { cpuQuota: -1, cpuPeriod: 100_000 },
      '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 18446744073709551615',
      '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 18446744073709551615',
    ],
    [
      'memory that is kept and throttled, which v1 does not know',
      { memoryMin: 4096n, memoryLow: 0n, memoryHigh: -1n },
      '3 MemoryMin t 4096 MemoryLow t 0 MemoryHigh t 18446744073709551615',
      '0',
    ],
    ['CPUs', { cpus: '0-3,8' }, '1 AllowedCPUs ay 2 15 1', '0'],
    ['limits of 0 leave the limits', { cpuShares: 0, cpuQuota: 0, memory: 0n, pids: 0n }, '0', '0'],
  ])('%s', (_, resources, newer, older) => {
    const set = `--system -- call ${MANAGER} SetUnitProperties sba(sv) ${SLICE} true`;
    expect(setSliceArgs(POD, v2, resources).join(' ')).toBe(`${set} ${newer}`);
    expect(setSliceArgs(POD, v1, resources).join(' ')).toBe(`${set} ${older}`);
  });

  it.each([
    [241, '1 CPUQuotaPerSecUSec t 500000'],
    [242, '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 500000'],
    [243, '2 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 500000'],
    [244, '3 CPUQuotaPeriodUSec t 100000 CPUQuotaPerSecUSec t 500000 AllowedCPUs ay 1 3'],
  ])('of systemd %i', (systemdVersion, properties) => {
    const resources = { cpuQuota: 50_000, cpuPeriod: 100_000, cpus: '0-1' };
    const args = setSliceArgs(POD, { cgroupVersion: 2, systemdVersion }, resources);
    expect(args.join(' ').endsWith(` true ${properties}`)).toBe(true);
  });
});

it('a slice is stopped', () => {
  expect(stopSliceArgs(POD).join(' ')).toBe(`--system -- call ${MANAGER} StopUnit ss ${SLICE} replace`);
});

it('the state of a slice is asked for by its object', () => {
  expect(sliceStateArgs(POD).slice(3)).toEqual([
    'org.freedesktop.systemd1',
    '/org/freedesktop/systemd1/unit/kubepods_2dburstable_2dpod1_5f2_2eslice',
    'org.freedesktop.systemd1.Unit',
    'ActiveState',
  ]);
});

it('the version of systemd is asked for', () => {
  expect(systemdVersionArgs.join(' ')).toBe(`--system -- get-property ${MANAGER} Version`);
});

it.each([
  ['s "active"\n', 'active', 0],
  ['s "252.30-1~deb12u2"\n', '252.30-1~deb12u2', 252],
  ['s "v245"', 'v245', 245],
  ['', '', 0],
])('%j says %j, version %i', (output, text, version) => {
  expect(printedString(output)).toBe(text);
  expect(printedVersion(output)).toBe(version);
});

it.each([
  ['Call failed: Unit kubepods.slice already exists.', true, false],
  ['Call failed: Unit kubepods.slice was already loaded or has a fragment file.', true, false],
  ['Call failed: Unit kubepods.slice not loaded.', false, true],
  ['Failed to connect to bus: No such file or directory', false, false],
])('%j', (message, isThere, isGone) => {
  expect([isUnitThere(message), isUnitGone(message)]).toEqual([isThere, isGone]);
});
