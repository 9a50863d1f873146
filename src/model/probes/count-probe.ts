import type { ProbeWorkerState } from './probe-turn.js';
import type { ProbeWorker } from './probe-worker.js';

/**
 * What one more outcome changes. `verdict` is there once enough outcomes in a row say the same. After a verdict of a startup
 * probe, or a failure of a liveness probe, the worker is on hold until there is another instance.
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
