import type { Edit, Mutant } from './mutants.js';

const shutdownMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'shutdowns',
});

const GROUPS = 'src/streams/shutdown/stop-groups.ts';
const MANAGER = 'src/streams/shutdown/shutdown-manager.ts';

/** Mistakes that a shutdown of the machine shows. */
export const SHUTDOWN_MUTANTS: readonly Mutant[] = [
  shutdownMutant('all groups are stopped at once', 'critical pods end before those that need them', {
    file: GROUPS,
    find: '=> concat(...groupPods(',
    replace: '=> merge(...groupPods(',
  }),
  shutdownMutant('the lock is released before the pods have stopped', 'the machine is off while they stop', {
    file: MANAGER,
    find: 'merge(keepState({ startedAt }, options), stopPods$), end$, release$)',
    replace: 'release$, merge(keepState({ startedAt }, options), stopPods$), end$)',
  }),
  shutdownMutant('the lowest priority is stopped last', 'critical pods are stopped first', {
    file: GROUPS,
    find: '...groupPods(groups, pods).map(',
    replace: '...groupPods(groups, pods).toReversed().map(',
  }),
  shutdownMutant('a pod keeps its own grace period', 'it outlives the time of its group', {
    file: 'src/model/shutdown/group-pods.ts',
    find: 'Math.min(graceSeconds, spec.terminationGracePeriodSeconds ?? Infinity)',
    replace: 'spec.terminationGracePeriodSeconds ?? graceSeconds',
  }),
];
