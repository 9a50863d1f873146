import { expect, it } from 'vitest';
import { mayPreempt, podsToPreempt } from '../../../src/model/admission/pods-to-preempt.js';
import type { Pod } from '../../../src/model/pod/pod.js';
import { quantity } from '../../../src/model/resources/quantity.js';
import { aPod } from '../../support/a-pod.js';

const CRITICAL = 2_000_000_000;

/** CPU in thousandths and memory in MiB. */
interface Sketch {
  readonly cpu?: number;
  readonly memory?: number;
  readonly isLimited?: boolean;
  readonly priority?: number;
  readonly created?: string;
}
const podOf = (name: string, { cpu, memory, isLimited = false, priority, created }: Sketch): Pod => {
  const requests = {
    ...(cpu !== undefined && { cpu: `${cpu}m` }),
    ...(memory !== undefined && { memory: `${memory}Mi` }),
  };
  const resources = { requests, ...(isLimited && { limits: requests }) };
  const containers = [{ name: 'main', resources }];
  const pod = aPod({
    ...{ uid: name, name, source: 'api' },
    spec: { containers, ...(priority !== undefined && { priority }) },
  });
  return created === undefined ? pod : { ...pod, metadata: { ...pod.metadata, creationTimestamp: created } };
};
const lacking = (cpu: number, memory: number, pods: number) =>
  new Map(
    Object.entries({ cpu: `${cpu}m`, memory: `${memory}Mi`, pods: String(pods) })
      .map(([name, text]) => [name, quantity(text)] as const)
      .filter(([, amount]) => amount > 0n),
  );

/** The pods of upstream's tables. */
const BEST_EFFORT = { bestEffort: {} };
const BURSTABLE = { burstable: { cpu: 100, memory: 100 } };
const LARGE_BURSTABLE = { largeBurstable: { cpu: 300, memory: 300 } };
const GUARANTEED = { guaranteed: { cpu: 100, memory: 100, isLimited: true } };
const LARGE_GUARANTEED = { largeGuaranteed: { cpu: 300, memory: 300, isLimited: true } };
const ALL = { ...BEST_EFFORT, ...BURSTABLE, ...LARGE_BURSTABLE, ...GUARANTEED, ...LARGE_GUARANTEED };
const critical = podOf('critical', { priority: CRITICAL });

const chosen = (
  pods: Readonly<Record<string, Sketch>>,
  missing: ReadonlyMap<string, bigint>,
  preemptor: Pod = critical,
) => {
  const active = Object.entries(pods).map(([name, sketch]) => podOf(name, sketch));
  const { victims, lacking: left } = podsToPreempt(preemptor, active, missing);
  return left.size > 0 ? `lacks ${[...left.keys()].join(' ')}` : victims.map(({ metadata }) => metadata.name);
};

/** Source: pkg/kubelet/preemption/preemption_test.go TestGetPodsToPreempt, TestEvictPodsToFreeRequests */
it.each<
  [what: string, pods: Readonly<Record<string, Sketch>>, missing: readonly [number, number, number], is: unknown]
>([
  ['nothing, of no pods', {}, [0, 0, 0], []],
  ['a place, of no pods', {}, [0, 0, 1], 'lacks pods'],
  ['as much as the only pod has', BURSTABLE, [100, 100, 1], ['burstable']],
  ['more than the only pod has', BURSTABLE, [200, 200, 2], 'lacks cpu memory pods'],
  ['memory, of a pod that requests none', BEST_EFFORT, [0, 1, 0], 'lacks memory'],
  ['a place: BestEffort goes before Burstable', { ...BURSTABLE, ...BEST_EFFORT }, [0, 0, 1], ['bestEffort']],
  ['a place: Burstable goes before Guaranteed', { ...BURSTABLE, ...GUARANTEED }, [0, 0, 1], ['burstable']],
  [
    'what the smaller of two pods has',
    { ...BEST_EFFORT, ...LARGE_BURSTABLE, ...BURSTABLE },
    [100, 100, 0],
    ['burstable'],
  ],
  [
    'what only the larger of two pods has',
    { ...BEST_EFFORT, ...BURSTABLE, ...LARGE_BURSTABLE },
    [150, 150, 0],
    ['largeBurstable'],
  ],
  ['what two Burstable pods have: no Guaranteed one goes', ALL, [350, 350, 0], ['largeBurstable', 'burstable']],
  [
    'what the Burstable pods do not have: the smaller of them is not needed besides a Guaranteed one',
    ALL,
    [0, 550, 0],
    ['largeBurstable', 'largeGuaranteed'],
  ],
  ['something, of critical pods', { other: { cpu: 100, memory: 100, priority: CRITICAL } }, [0, 0, 1], 'lacks pods'],
])('a critical pod lacks %s', (_, pods, missing, is) => expect(chosen(pods, lacking(...missing))).toEqual(is));

it('of two critical pods the one of the lower priority goes for the other, and never the other way round', () => {
  const node = podOf('node', { cpu: 100, priority: CRITICAL + 1_000 });
  const cluster = { cluster: { cpu: 100, priority: CRITICAL } };
  expect(chosen(cluster, lacking(100, 0, 0), node)).toEqual(['cluster']);
  expect(chosen({ node: { cpu: 100, priority: CRITICAL + 1_000 } }, lacking(100, 0, 0))).toBe('lacks cpu');
});

it('a static pod has no priority by which another one would go for it, or it for another one', () => {
  const fixed = aPod({ uid: 'fixed' });
  expect(mayPreempt(fixed, aPod({ uid: 'other' }))).toBe(false);
  expect(mayPreempt(critical, fixed)).toBe(false);
  expect(mayPreempt(fixed, podOf('web', {}))).toBe(true);
});

it.each<[by: string, pods: Readonly<Record<string, Sketch>>]>([
  ['less memory', { a: { cpu: 200, memory: 2 }, b: { cpu: 300, memory: 1 } }],
  ['less CPU', { a: { cpu: 300 }, b: { cpu: 200 } }],
  ['the lower priority', { a: { cpu: 200, priority: 9 }, b: { cpu: 200, priority: 8 } }],
  [
    'the younger',
    { a: { cpu: 200, created: '2026-01-01T00:00:00Z' }, b: { cpu: 200, created: '2026-01-02T00:00:00Z' } },
  ],
])('of pods that give as much of what is missing, the one goes first with %s', (_, pods) =>
  expect(chosen(pods, lacking(100, 0, 0))).toEqual(['b']),
);

it('of two missing resources, the pod goes first that leaves the smaller part of both', () => {
  const pods = { a: { cpu: 900, memory: 1 }, b: { cpu: 600, memory: 60 }, c: { cpu: 100, memory: 100 } };
  expect(chosen(pods, lacking(1_000, 100, 0))).toEqual(['b', 'c', 'a']);
});
