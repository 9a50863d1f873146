import { podRef } from '../../model/pod.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import { withProbed } from '../../model/probes/probed-status.js';
import type { ProbeChange } from '../probes/probe-worker.js';
import type { LoopDesk } from './loop-desk.js';

/**
 * What has become known by a probe shows in the status of the pod at once, then its worker looks at it: to restart the container, or to
 * let go on what waited for it. `look` tells the other probes of the pod that its status has changed.
 *
 * Source: pkg/kubelet/kubelet.go syncLoopIteration, the cases of probes
 */
export const handleProbe =
  ({ pods, workers, statuses, record, scheduler, wallClock }: LoopDesk, look: (uid: string) => void) =>
  ({ worker: { type, pod: probed, container }, containerId, result, output }: ProbeChange): readonly Delivery[] => {
    const { uid } = probed.metadata;
    const pod = pods.get(uid) ?? probed;
    const status = statuses.get(uid);
    if (status && type !== 'liveness') {
      const change = { pod, type, containerId, isSuccess: result === 'success' };
      if (statuses.set(uid, withProbed(status, change, wallClock()))) look(uid);
    }
    // What is taken for granted of a new instance, or of one that has ended, its status says already.
    if (output === undefined || result === 'unknown') return [];
    if ((type === 'liveness' && result === 'success') || !pods.get(uid)) return [];
    const event = { kind: 'probe', probe: type, result, output: firstPart(output) } as const;
    const cause = record({ ...event, container: container.name, pod: podRef(pod), causes: [] });
    const now = scheduler.now();
    const { mirrorPod } = pods.resolve(pod);
    return workers.update({ type: 'sync', pod, mirrorPod, startedAt: now, causes: [cause] }, now);
  };

/** Characters of what a probe heard that the journal keeps. */
const KEPT = 1024;

const firstPart = (text: string): string => (text.length <= KEPT ? text : `${text.slice(0, KEPT - 1)}…`);
