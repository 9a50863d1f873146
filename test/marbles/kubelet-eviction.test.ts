import { map, of } from 'rxjs';
import type { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import type { EvictionPolicy } from '../../src/model/eviction/eviction-policy.js';
import type { PodSpec } from '../../src/model/pod/pod.js';
import type { EvictionFigures } from '../../src/streams/ports/eviction-figures.js';
import { expectLanes } from './lanes.js';
import { figuresOf, memory, memoryBelow, MI } from '../support/eviction-parts.js';
import { forever, onNode, pod, SECOND, sets, type Stage } from './virtual-node.js';

const POLICY: EvictionPolicy = {
  thresholds: [memoryBelow(100)],
  pressureTransitionMs: 30 * SECOND,
  maxPodGraceSeconds: 0,
  enforcesLocalLimits: true,
};
/** An ordinary pod whose only container has its name. */
const named = (name: string, spec: Partial<PodSpec> = {}) =>
  pod({ containers: [{ name, image: 'host' }], ...spec }, { uid: name, name, source: 'api' });
const [big, small, late] = [named('big'), named('small'), named('late')];

/** The memory of the node by second, and that of pods in MiB. */
const figures =
  (available: (seconds: number) => number, used: Readonly<Record<string, number>> = { big: 90, small: 10 }) =>
  (scheduler: TestScheduler): EvictionFigures => ({
    node: () => of(memory(available(scheduler.now() / SECOND), scheduler.now())),
    pods: (pods) =>
      of(pods).pipe(
        map((all) => all.map(({ metadata: { uid } }) => figuresOf(uid, { workingSet: (used[uid] ?? 0) * MI }))),
      ),
    devices: () => of({ node: '1', images: '1', containers: '1' }),
  });
const shortFrom = (from: number, to: number) => (seconds: number) => (seconds >= from && seconds < to ? 50 : 500);
const stops = ({ fake }: Stage): readonly string[] => fake.history.filter((line) => /stop |exit/.test(line));

it('a node that is short of memory stops its largest pod with the shortest grace period, which has failed for good', () => {
  let shown: readonly unknown[] = [];
  const stage = onNode(
    {
      evictionFigures: figures(shortFrom(10, 11)),
      behaviours: { big: [{ stopsAfterMs: 500 }] },
      untilMs: 120 * SECOND,
    },
    ({ start, scheduler }) => {
      const { pods } = start({ sources: { api: forever(big, small) }, eviction: POLICY });
      scheduler.schedule(() => {
        shown = pods().map(({ metadata: { name }, status }) => [
          name,
          status?.phase,
          status?.reason,
          status?.message,
          status?.conditions?.find(({ type }) => type === 'DisruptionTarget')?.reason,
        ]);
      }, 110 * SECOND);
    },
  );
  expectLanes(stops(stage), { everyMs: 500 }).toBe({ 'stop big': '10s 2', 'exit big': '10s -e' });
  expect(stage.events.filter((event) => /Evict/.test(event))).toEqual(['10000 EvictionThresholdMet', '10000 Evicted']);
  expect(shown).toEqual([
    [
      'big',
      'Failed',
      'Evicted',
      'The node was low on resource: memory. Threshold quantity: 100Mi, available: 50Mi. ',
      'TerminationByKubelet',
    ],
    ['small', 'Running', undefined, undefined, undefined],
  ]);
});

it('the journal says why a pod was evicted: the signal, its amounts, and the order of the pods', () => {
  const stage = onNode({ evictionFigures: figures(shortFrom(10, 11)), untilMs: 20 * SECOND }, ({ start }) =>
    start({ sources: { api: forever(big, small) }, eviction: POLICY }),
  );
  const kills = stage.records.flatMap((record) => (record.kind === 'kill-requested' ? [record.reason] : []));
  expect(kills).toEqual([
    'the node is short of memory (memory.available: 50Mi available, less than 100Mi); the pod ranks first of 2, the next one would be small_default(small)',
  ]);
});

it('a node under pressure rejects a pod that requests nothing, and takes pods again once its condition is over', () => {
  let phases: readonly unknown[] = [];
  const later = named('later');
  onNode({ evictionFigures: figures(shortFrom(10, 11)), untilMs: 60 * SECOND }, ({ start, scheduler }) => {
    const api = sets([0, [big, small]], [15 * SECOND, [big, small, late]], [45 * SECOND, [big, small, late, later]]);
    const { pods } = start({ sources: { api }, eviction: POLICY });
    scheduler.schedule(() => {
      phases = pods().map(({ metadata: { name }, status }) => [name, status?.phase, status?.reason]);
    }, 59 * SECOND);
  });
  expect(phases).toEqual([
    ['big', 'Failed', 'Evicted'],
    ['small', 'Running', undefined],
    ['late', 'Failed', 'Evicted'],
    ['later', 'Running', undefined],
  ]);
});

it('static pods stay, however short the node is, and nothing is evicted without a policy', () => {
  const fixed = pod({ containers: [{ name: 'fixed', image: 'host' }] }, { uid: 'fixed', name: 'fixed' });
  const evictionFigures = figures(() => 1);
  const alone = onNode({ evictionFigures, untilMs: 30 * SECOND }, ({ start }) =>
    start({ sources: { file: forever(fixed) }, eviction: POLICY }),
  );
  expect(stops(alone)).toEqual([]);
  const without = onNode({ evictionFigures, untilMs: 30 * SECOND }, ({ start }) =>
    start({ sources: { api: forever(big) } }),
  );
  expect(stops(without)).toEqual([]);
});

it('a pod above its limit of ephemeral storage is evicted alone, without a condition of the node', () => {
  let shown: readonly unknown[] = [];
  const limits = { 'ephemeral-storage': '10' };
  const full = named('full', { containers: [{ name: 'full', image: 'host', resources: { limits } }] });
  const evictionFigures = (scheduler: TestScheduler): EvictionFigures => ({
    ...figures(() => 500)(scheduler),
    pods: () => of([figuresOf('full', { hostsFile: { bytes: scheduler.now() < 10 * SECOND ? 10 : 11 } })]),
  });
  const stage = onNode({ evictionFigures, untilMs: 30 * SECOND }, ({ start, scheduler }) => {
    const { pods } = start({ sources: { api: forever(full, small) }, eviction: POLICY });
    scheduler.schedule(() => {
      shown = pods().map(({ status }) => [status?.phase, status?.message, status?.conditions?.some(isDisruption)]);
    }, 29 * SECOND);
  });
  expect(stops(stage)[0]).toBe('10000 stop full 2');
  expect(shown).toEqual([
    ['Failed', 'Pod ephemeral local storage usage exceeds the total limit of containers 10. ', false],
    ['Running', undefined, false],
  ]);
});

const isDisruption = ({ type }: { readonly type: string }): boolean => type === 'DisruptionTarget';
