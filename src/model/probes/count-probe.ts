import type { ProbeWorkerState } from './probe-turn.js';
import type { ProbeWorker } from './probe-worker.js';

/**
 * Returns the state after one more outcome. `verdict` is set once enough equal outcomes in a row have come. After a
 * verdict of a startup probe, or a failure of a liveness probe, the worker is on hold until the next instance.
 *
 * Source: pkg/kubelet/prober/worker.go doProbe
 */
export const countProbe = (
  { type, pace }: Pick<ProbeWorker, 'type' | 'pace'>,
  state: ProbeWorkerState,
  result: 'success' | 'failure',
): { readonly state: ProbeWorkerState; readonly verdict?: 'success' | 'failure' } => {
  const runLength = state.lastResult === result ? state.runLength + 1 : 1;
  const counted = { ...state, lastResult: result, runLength };
  const needed = result === 'success' ? pace.successThreshold : pace.failureThreshold;
  if (runLength < needed) return { state: counted };
  const isLastWord = type === 'startup' || (type === 'liveness' && result === 'failure');
  const hasSucceeded = state.hasSucceeded || result === 'success';
  return {
    verdict: result,
    state: { ...counted, hasSucceeded, ...(isLastWord && { isOnHold: true, runLength: 0 }) },
  };
};
