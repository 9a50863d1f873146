import type { Edit, Mutant } from './mutants.js';

const resizeMutant = (name: string, why: string, ...edits: readonly Edit[]): Mutant => ({
  ...{ name, why, edits },
  kind: 'resizes',
});

const ACTUATED = 'src/model/resize/actuated.ts';
const HANDLES = 'src/streams/sync-loop/handle-resize.ts';

/** Mistakes that a node shows when its pods get other amounts of CPU and memory. */
export const RESIZE_MUTANTS: readonly Mutant[] = [
  resizeMutant('a resize counts no other pods', 'pods are given more than the node has', {
    file: HANDLES,
    find: 'other.metadata.uid !== uid',
    replace: 'other.metadata.uid === uid',
  }),
  resizeMutant('a resize that waits is not tried again', 'a pod never gets what the node has room for', {
    file: HANDLES,
    find: "known?.reason === 'Infeasible' && ",
    replace: 'known && ',
  }),
  resizeMutant('a resize is done before it is kept', 'a kill -9 takes it back', {
    file: 'src/streams/pod-workers/pod-work.ts',
    find: '(ports.state.value.resizes.allocated.has(run.uid) ? amountKeeper.save$ : EMPTY)',
    replace: 'EMPTY',
  }),
  resizeMutant('what is kept is not read', 'the next agent gives containers what they had before', {
    file: 'src/streams/resize/amount-keeper.ts',
    find: "state.apply({ kind: 'resizes-restored', ...kept })",
    replace: 'undefined',
  }),
  resizeMutant('every resize restarts', 'a container ends that should not notice', {
    file: ACTUATED,
    find: ' && policy.restartPolicy === RESTART',
    replace: '',
  }),
  resizeMutant('no resize restarts', 'a program that reads its limits at its start never learns of them', {
    file: ACTUATED,
    find: 'return needsRestart ?',
    replace: 'return needsRestart && !asGiven ?',
  }),
  resizeMutant('an update is not noted', 'the resize never ends', {
    file: 'src/streams/resize/resize-pod.ts',
    find: "state.apply({ kind: 'instance-resized', uid: pod.metadata.uid, container: name, amounts: given });",
    replace: '',
  }),
];
