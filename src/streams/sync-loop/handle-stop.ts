import { podRef } from '../../model/pod/pod.js';
import type { Wake } from '../../model/pod-workers/wake.js';
import type { KubeletState } from './kubelet-state.js';
import type { LoopContext } from './loop-context.js';

/** A request to stop every pod of the node. */
export interface StopRequest {
  /** In plain words, for the journal. */
  readonly reason: string;
  /** The longest grace period, in seconds. Default: the grace period of each pod. */
  readonly graceSeconds?: number;
}

/** Wakes every worker to stop its pod, if it has not stopped. */
export const handleStop =
  ({ state: { pods, workers }, guard, record, scheduler }: LoopContext) =>
  ({ reason, graceSeconds }: StopRequest): readonly Wake[] =>
    pods.pods().flatMap((pod) =>
      guard(podRef(pod), () => {
        if (workers.isKnownTerminated(pod.metadata.uid)) return [];
        const cause = record({ kind: 'kill-requested', reason, graceSeconds, pod: podRef(pod), causes: [] });
        const now = scheduler.now();
        const update = { type: 'kill' as const, pod, kill: { graceSeconds }, startedAt: now, causes: [cause] };
        return workers.update(update, now);
      }),
    );

/** Whether no container of any pod can run any more. */
export const hasStopped = ({ workers }: Pick<KubeletState, 'workers'>): boolean =>
  [...workers.records()].every(({ terminatedAt }) => terminatedAt !== undefined);
