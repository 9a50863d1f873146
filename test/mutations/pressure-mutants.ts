import type { Edit, Mutant } from './mutants.js';

const pressureMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'pressure',
});

const DECIDES = 'src/model/admission/decide-admission.ts';
const CHOOSES = 'src/model/admission/pods-to-preempt.ts';
const MANAGER = 'src/streams/eviction/eviction-manager.ts';

/** Mistakes that a node shows when it runs short of something, or of room. */
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
  pressureMutant('a critical pod does not wait for its room', 'two pods run where there is room for one', {
    file: 'src/streams/pod-workers/until-room.ts',
    find: 'if (!wait) return EMPTY;',
    replace: 'if (!wait || wait) return EMPTY;',
  }),
  pressureMutant('a pod counts on room that is not free yet', 'it starts beside the pod that makes room', {
    file: DECIDES,
    find: 'waitsFor: ending }',
    replace: 'waitsFor: [] }',
  }),
  pressureMutant('all pods make room', 'more pods are stopped than the room needs', {
    file: CHOOSES,
    find: 'victims: [...fromBestEffort, ...fromBurstable, ...fromGuaranteed]',
    replace: 'victims: candidates',
  }),
  pressureMutant('critical pods make room for each other', 'the node stops a pod that it needs', {
    file: CHOOSES,
    find: 'if (isCriticalPod(preemptor) && !isCriticalPod(pod)) return true;',
    replace: 'if (isCriticalPod(preemptor)) return true;',
  }),
];
