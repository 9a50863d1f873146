import { expect, it } from 'vitest';
import type { EvictionSignal } from '../../../src/model/eviction/signals.js';
import {
  amountOf,
  byUrgency,
  DEFAULT_EVICTION_HARD,
  evictionThresholds,
  type Threshold,
  type ThresholdFields,
  withContainerThresholds,
} from '../../../src/model/eviction/thresholds.js';

const fields = (over: Partial<ThresholdFields>): ThresholdFields => ({
  evictionHard: {},
  evictionSoft: {},
  evictionSoftGracePeriod: {},
  evictionMinimumReclaim: {},
  enforceNodeAllocatable: ['pods'],
  ...over,
});
const MI = 1024 * 1024;

/** A threshold as `<signal> <amount or share> [for <ms>] [and <reclaim>]`. */
const textOf = ({ signal, value, gracePeriodMs, minReclaim }: Threshold): string => {
  const amount = (of: Threshold['value']) => ('share' in of ? `${Math.round(of.share * 1000) / 10}%` : of.amount);
  const grace = gracePeriodMs > 0 ? ` for ${gracePeriodMs}` : '';
  return `${signal} ${amount(value)}${grace}${minReclaim ? ` and ${amount(minReclaim)}` : ''}`;
};

it.each<[what: string, given: Partial<ThresholdFields>, thresholds: readonly string[]]>([
  ['no fields give none', {}, []],
  [
    'a hard one of memory is one of the pods as a whole, too',
    { evictionHard: { 'memory.available': '100Mi' } },
    [`memory.available ${100 * MI}`, `allocatableMemory.available ${100 * MI}`],
  ],
  [
    'it is not where these have no limit',
    { evictionHard: { 'memory.available': '100Mi' }, enforceNodeAllocatable: ['none'] },
    [`memory.available ${100 * MI}`],
  ],
  [
    'a soft one has its grace period, and is none of the pods as a whole',
    { evictionSoft: { 'memory.available': '10%' }, evictionSoftGracePeriod: { 'memory.available': 90_000 } },
    ['memory.available 10% for 90000'],
  ],
  ['0% is off', { evictionHard: { 'nodefs.available': '0%' } }, []],
  ['100% is off', { evictionHard: { 'nodefs.available': '100%', 'pid.available': '500' } }, ['pid.available 500']],
  [
    'a minimum reclaim belongs to hard and soft ones of its signal',
    {
      evictionHard: { 'nodefs.available': '1Mi', 'nodefs.inodesFree': '5%' },
      evictionSoft: { 'nodefs.available': '2Mi' },
      evictionSoftGracePeriod: { 'nodefs.available': 1_000 },
      evictionMinimumReclaim: { 'nodefs.available': '3%' },
    },
    [`nodefs.available ${MI} and 3%`, 'nodefs.inodesFree 5%', `nodefs.available ${2 * MI} for 1000 and 3%`],
  ],
  [
    'the defaults are those of the kubelet',
    { evictionHard: DEFAULT_EVICTION_HARD, enforceNodeAllocatable: [] },
    [
      ...[`memory.available ${100 * MI}`, 'nodefs.available 10%', 'nodefs.inodesFree 5%'],
      ...['imagefs.available 15%', 'imagefs.inodesFree 5%'],
    ],
  ],
])('the thresholds of a configuration: %s', (_, given, thresholds) => {
  expect(evictionThresholds(fields(given)).map(textOf)).toEqual(thresholds);
});

it('a share of a capacity is cut off to a whole amount, with the single precision of the kubelet', () => {
  const [threshold] = evictionThresholds(fields({ evictionHard: { 'nodefs.available': '12.3%' } }));
  expect([1_000, 999, 10 ** 12].map((capacity) => amountOf(threshold!.value, capacity))).toEqual([
    123, 122, 123_000_003_397,
  ]);
});

it.each([
  ['of one file system from that of the node', 'single', ['containerfs.available 1']],
  ['beside its images from theirs', 'dedicated-images', ['containerfs.available 2', 'containerfs.inodesFree 3']],
  ['apart from its images from that of the node', 'split', ['containerfs.available 1']],
] as const)('the writable layers %s have their thresholds', (_, layout, derived) => {
  const given = evictionThresholds(
    fields({
      evictionHard: {
        'nodefs.available': '1',
        'imagefs.available': '2',
        'imagefs.inodesFree': '3',
        // Overridden.
        'containerfs.available': '4',
      },
    }),
  );
  const texts = withContainerThresholds(given, layout).map(textOf);
  expect(texts.filter((text) => text.startsWith('containerfs.'))).toEqual(derived);
  expect(texts.filter((text) => !text.startsWith('containerfs.'))).toHaveLength(3);
});

it('memory is more urgent than the rest, which keeps its order', () => {
  const of = (signal: EvictionSignal): Threshold => ({ signal, value: { share: 0 }, gracePeriodMs: 0 });
  const sorted = [of('pid.available'), of('nodefs.available'), of('allocatableMemory.available')].toSorted(byUrgency);
  expect(sorted.map(({ signal }) => signal)).toEqual([
    'allocatableMemory.available',
    'pid.available',
    'nodefs.available',
  ]);
});
