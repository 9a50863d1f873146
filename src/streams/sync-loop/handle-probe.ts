import { podRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import { withProbed } from '../../model/probes/probed-status.js';
import type { ProbeChange } from '../probes/probe-worker.js';
import type { LoopContext } from './loop-context.js';

/**
 * Stores the result of a probe in the status of the pod at once, then wakes its worker, to restart the container or to start
 * containers that wait for it. Calls `statusChanged` for the other probes of the pod.
 *
 * Source: pkg/kubelet/kubelet.go syncLoopIteration, the cases of probes
 */
export const handleProbe =
  (context: LoopContext, statusChanged: (uid: string) => void) =>
  (change: ProbeChange): readonly Wake[] =>
    context.guard(podRef(change.worker.pod), () => applied(context, statusChanged, change));

const applied = (
  { state, record, scheduler, wallClock }: LoopContext,
  statusChanged: (uid: string) => void,
  { worker: { type, pod: probed, container }, containerId, result, output }: ProbeChange,
): readonly Wake[] => {
  const { uid } = probed.metadata;
  const { pods, statuses, workers, apply } = state;
  const pod = pods.get(uid) ?? probed;
  const status = statuses.get(uid);
  if (status && type !== 'liveness') {
    const change = { pod, type, containerId, isSuccess: result === 'success' };
    if (apply({ kind: 'status', uid, status: withProbed(status, change, wallClock()) })) statusChanged(uid);
  }
  // Without an output it is the default of a new or ended instance, which its status shows already.
  if (output === undefined || result === 'unknown') return [];
  if ((type === 'liveness' && result === 'success') || !pods.get(uid)) return [];
  const event = { kind: 'probe', probe: type, result, output: firstPart(output) } as const;
  const cause = record({ ...event, container: container.name, pod: podRef(pod), causes: [] });
  const now = scheduler.now();
  const { mirrorPod } = pods.resolve(pod);
  const update = { type: 'sync' as const, pod, mirrorPod, startedAt: now, causes: [cause] };
  return workers.update(update, now);
};

/** The length of the output of a probe in the journal, in characters. */
const KEPT = 1024;

const firstPart = (text: string): string => (text.length <= KEPT ? text : `${text.slice(0, KEPT - 1)}…`);
