import { type CgroupName, systemdSlice } from '../../model/cgroups/cgroup-name.js';
import type { CgroupResources } from '../../model/cgroups/cgroup-resources.js';
import { cpuWeight } from '../../model/cgroups/cpu-weight.js';

const SYSTEMD = 'org.freedesktop.systemd1';
const MANAGER = ['/org/freedesktop/systemd1', `${SYSTEMD}.Manager`] as const;

/** A property of a unit as arguments of `busctl`: name, D-Bus type, value by value. */
type Property = readonly [name: string, type: string, ...values: string[]];

/** The differences between machines. */
export interface SystemdFeatures {
  readonly cgroupVersion: 1 | 2;
  /** The version of systemd; 0 if unknown. */
  readonly systemdVersion: number;
}

/**
 * Returns the arguments of `busctl` that create the slice. An existing slice is not changed.
 *
 * Source: opencontainers/cgroups systemd Apply.
 */
export const startSliceArgs = (name: CgroupName, features: SystemdFeatures, resources: CgroupResources): string[] => {
  const slice = systemdSlice(name);
  const properties: readonly Property[] = [
    ['Description', 's', `cgroup of pods ${slice}`],
    ['Wants', 'as', '1', systemdSlice(name.slice(0, -1))],
    ['MemoryAccounting', 'b', 'true'],
    ['CPUAccounting', 'b', 'true'],
    [features.cgroupVersion === 2 ? 'IOAccounting' : 'BlockIOAccounting', 'b', 'true'],
    ['TasksAccounting', 'b', 'true'],
    ['DefaultDependencies', 'b', 'false'],
    ...resourceProperties(resources, features),
  ];
  return call('StartTransientUnit', 'ssa(sv)a(sa(sv))', slice, 'replace', ...list(properties), '0');
};

/** Returns the arguments of `busctl` that change the limits of a slice until the next boot. */
export const setSliceArgs = (name: CgroupName, features: SystemdFeatures, resources: CgroupResources): string[] =>
  call('SetUnitProperties', 'sba(sv)', systemdSlice(name), 'true', ...list(resourceProperties(resources, features)));

export const stopSliceArgs = (name: CgroupName): string[] => call('StopUnit', 'ss', systemdSlice(name), 'replace');

/** Returns the arguments of `busctl` that print `s "active"` once the slice exists, `s "inactive"` once it is gone. */
export const sliceStateArgs = (name: CgroupName): string[] => [
  '--system',
  '--',
  'get-property',
  SYSTEMD,
  `/org/freedesktop/systemd1/unit/${busLabel(systemdSlice(name))}`,
  `${SYSTEMD}.Unit`,
  'ActiveState',
];

/** The arguments of `busctl` that print `s "252.30"`. */
export const systemdVersionArgs: readonly string[] = ['--system', '--', 'get-property', SYSTEMD, ...MANAGER, 'Version'];

/** Returns the text of a property of type string that `busctl` prints. */
export const printedString = (output: string): string => /^s "(.*)"\s*$/.exec(output)?.[1] ?? '';

/** Returns 252 for `s "252.30-1~deb12u2"`, and the number of `s "v245"`; 0 if there is none. */
export const printedVersion = (output: string): number => Number(/^v?(\d+)/.exec(printedString(output))?.[1] ?? 0);

/** Another process created the slice before. */
export const isUnitThere = (message: string): boolean => /already (exists|loaded)|UnitExists/.test(message);
/** The slice was never created, or is gone. */
export const isUnitGone = (message: string): boolean => /not loaded|NoSuchUnit/.test(message);

/** A `--`, since the root of the slices is `-.slice`, which is a value and not an option. */
const call = (method: string, signature: string, ...args: readonly string[]): string[] => [
  '--system',
  '--',
  'call',
  SYSTEMD,
  ...MANAGER,
  method,
  signature,
  ...args,
];

const list = (properties: readonly Property[]): string[] => [String(properties.length), ...properties.flat()];

const U64_MAX = (1n << 64n) - 1n;
/** systemd rounds quotas to steps of 10 ms per second, and would overwrite a finer one. */
const QUOTA_STEP = 10_000n;

const resourceProperties = (
  { cpuShares, cpuQuota, cpuPeriod, memory, memoryMin, memoryLow, memoryHigh, pids, cpus }: CgroupResources,
  { cgroupVersion, systemdVersion }: SystemdFeatures,
): readonly Property[] => {
  const isV2 = cgroupVersion === 2;
  const cpu: readonly Property[] = !cpuShares
    ? []
    : isV2
      ? [['CPUWeight', 't', String(cpuWeight(cpuShares))]]
      : [['CPUShares', 't', String(cpuShares)]];
  return [
    ...(memory ? [[isV2 ? 'MemoryMax' : 'MemoryLimit', 't', String(memory)] as const] : []),
    ...(isV2
      ? [
          ...number('MemoryMin', memoryMin),
          ...number('MemoryLow', memoryLow),
          ...number('MemoryHigh', memoryHigh !== undefined && memoryHigh < 0n ? U64_MAX : memoryHigh),
        ]
      : []),
    ...cpu,
    ...(cpuPeriod && systemdVersion >= 242 ? [['CPUQuotaPeriodUSec', 't', String(cpuPeriod)] as const] : []),
    ...(cpuQuota ? [['CPUQuotaPerSecUSec', 't', String(quotaPerSecond(cpuQuota, cpuPeriod))] as const] : []),
    ...(pids ? [['TasksMax', 't', String(pids)] as const] : []),
    ...(cpus !== undefined && isV2 && systemdVersion >= 244
      ? [['AllowedCPUs', 'ay', ...bytes(cpuMask(cpus))] as const]
      : []),
  ];
};

const number = (name: string, value: bigint | undefined): readonly Property[] =>
  value === undefined ? [] : [[name, 't', String(value)]];

/** Returns microseconds of CPU time per second, rounded up; the maximum for no limit. */
const quotaPerSecond = (quota: number, period = 100_000): bigint => {
  if (quota < 0) return U64_MAX;
  const exact = (BigInt(quota) * 1_000_000n) / BigInt(period);
  return ((exact + QUOTA_STEP - 1n) / QUOTA_STEP) * QUOTA_STEP;
};

/** One bit per CPU of a list such as `0-3,8`. */
const cpuMask = (cpus: string): bigint =>
  cpus.split(',').reduce((mask, range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return mask | (((1n << BigInt(last - first + 1)) - 1n) << BigInt(first));
  }, 0n);

/** The mask as an array of bytes in the form of `busctl`, the lowest CPUs first. */
const bytes = (mask: bigint): string[] => {
  const values: string[] = [];
  for (let rest = mask; rest > 0n; rest >>= 8n) values.push(String(rest & 0xffn));
  return [String(values.length), ...values];
};

/** Escapes a name for an object path: every character except letters and digits becomes hexadecimal. */
const busLabel = (name: string): string =>
  name.replace(/[^A-Za-z0-9]|^\d/g, (character) => `_${character.charCodeAt(0).toString(16).padStart(2, '0')}`);
