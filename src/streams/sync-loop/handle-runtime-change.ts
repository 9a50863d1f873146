import type { PlegEvent } from '../../model/pleg/pleg.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { LoopContext } from './loop-context.js';

/**
 * Wakes the worker of the pod whose containers changed, if a source wants the pod.
 *
 * Source: pkg/kubelet/kubelet.go syncLoopIteration, the PLEG case
 */
export const handleRuntimeChange =
  (context: LoopContext) =>
  (event: PlegEvent): readonly Wake[] =>
    context.guard(event.pod, () => changed(context, event));

const changed = ({ state: { pods, workers }, record, scheduler }: LoopContext, event: PlegEvent): readonly Wake[] => {
  const now = scheduler.now();
  const cause = record({
    kind: 'runtime-changed',
    change: event.type,
    containerId: event.id,
    container: event.container,
    exitCode: event.exitCode,
    reason: event.reason,
    happenedAt: event.happenedAt,
    message: event.message === undefined ? undefined : lastPart(event.message),
    pod: event.pod,
    causes: [],
  });
  const pod = pods.get(event.pod.uid);
  if (!pod || event.type === 'ContainerRemoved') return [];
  const { mirrorPod } = pods.resolve(pod);
  const update = { type: 'sync' as const, pod, mirrorPod, startedAt: now, causes: [cause] };
  return workers.update(update, now);
};

/** The length of a termination message in the journal, in characters. The end is kept, since a log shows its error there. */
const KEPT = 1024;

const lastPart = (message: string): string => (message.length <= KEPT ? message : `…${message.slice(1 - KEPT)}`);
