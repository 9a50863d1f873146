import { isTerminalPhase, type PodRef } from '../pod/pod.js';
import type { StreamSubject } from './stream-call.js';

/**
 * Whether the sandbox of a port-forward has ended: it is not ready, the pod has another one, or the pod neither runs nor will run again. A pod
 * that the agent wants may run although it cannot be read.
 */
export const hasForwardEnded = (
  { pod, podSandboxId }: { readonly pod: PodRef; readonly podSandboxId: string },
  { pods, findRunning }: StreamSubject,
): boolean => {
  const sandbox = findRunning(pod)?.sandboxes[0];
  if (sandbox) return sandbox.id !== podSandboxId || sandbox.state !== 'SANDBOX_READY';
  const wanted = pods().find(({ metadata }) => metadata.uid === pod.uid);
  return !wanted || isTerminalPhase(wanted.status?.phase);
};
