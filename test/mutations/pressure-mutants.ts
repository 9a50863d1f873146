import type { Edit, Mutant } from './mutants.js';

const pressureMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'pressure',
});

const MANAGER = 'src/streams/eviction/eviction-manager.ts';

/** Mistakes that a node shows when it runs short of something. */
export const PRESSURE_MUTANTS: readonly Mutant[] = [
  pressureMutant('critical pods are evicted, too', 'the node loses the pods that the others need', {
    file: 'src/model/eviction/eviction.ts',
    find: '!isCriticalPod(pod)',
    replace: 'isCriticalPod(pod) || true',
  }),
  pressureMutant('the highest priority is evicted first', 'the wrong pod goes', {
    file: 'src/model/eviction/rank-pods.ts',
    find: 'one.priority - other.priority ||\n  other.excess',
    replace: 'other.priority - one.priority ||\n  other.excess',
  }),
  pressureMutant('a soft threshold acts at once', 'a pod is evicted for a short peak', {
    file: 'src/model/eviction/pressure.ts',
    find: '>= threshold.gracePeriodMs',
    replace: '>= 0',
  }),
  pressureMutant('the next pod is evicted at once', 'more pods go than have to', {
    file: MANAGER,
    find: 'due(evicted).pipe(',
    replace: 'timer(evicted.length > 0 ? 10 : EVICTION_PERIOD_MS, scheduler).pipe(',
  }),
  pressureMutant('a removal is not measured', 'a pod is evicted although removed images were enough', {
    file: MANAGER,
    find: 'thresholds.some((threshold) => isMet(threshold, observations, { reclaims: true }))',
    replace: 'thresholds.length > 0',
  }),
];
