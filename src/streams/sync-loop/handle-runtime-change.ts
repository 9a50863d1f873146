import type { PlegEvent } from '../../model/pleg.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import type { LoopDesk } from './loop-desk.js';

/**
 * Looks at the pod whose containers changed, if anybody wants it.
 *
 * Source: pkg/kubelet/kubelet.go syncLoopIteration, the PLEG case
 */
export const handleRuntimeChange =
  ({ pods, workers, record, scheduler }: LoopDesk) =>
  (event: PlegEvent): readonly Delivery[] => {
    const now = scheduler.now();
    const cause = record({
      kind: 'runtime-changed',
      change: event.type,
      containerId: event.id,
      container: event.container,
      exitCode: event.exitCode,
      reason: event.reason,
      message: event.message === undefined ? undefined : lastPart(event.message),
      pod: event.pod,
      causes: [],
    });
    const pod = pods.get(event.pod.uid);
    if (!pod || event.type === 'ContainerRemoved') return [];
    const { mirrorPod } = pods.resolve(pod);
    return workers.update({ type: 'sync', pod, mirrorPod, startedAt: now, causes: [cause] }, now);
  };

/** Characters of a message that the journal keeps: the end, since that is what matters of a log. */
const KEPT = 1024;

const lastPart = (message: string): string => (message.length <= KEPT ? message : `…${message.slice(1 - KEPT)}`);
