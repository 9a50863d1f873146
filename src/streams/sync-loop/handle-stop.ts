import { podRef } from '../../model/pod.js';
import type { Delivery } from '../../model/pod-workers/pod-worker-registry.js';
import type { LoopDesk } from './loop-desk.js';

/** A request to stop every pod of the node. */
export interface StopRequest {
  /** In plain words, for the journal. */
  readonly reason: string;
  /** Seconds at most; left out, each pod has what it asks for. */
  readonly graceSeconds?: number;
}

/** Asks every worker to stop its pod. */
export const handleStop =
  ({ pods, workers, record, scheduler }: LoopDesk) =>
  ({ reason, graceSeconds }: StopRequest): readonly Delivery[] =>
    pods.pods().flatMap((pod) => {
      const cause = record({ kind: 'kill-requested', reason, graceSeconds, pod: podRef(pod), causes: [] });
      const now = scheduler.now();
      return workers.update({ type: 'kill', pod, kill: { graceSeconds }, startedAt: now, causes: [cause] }, now);
    });

/** Nothing of any pod can be running any more. */
export const hasStopped = ({ workers }: Pick<LoopDesk, 'workers'>): boolean =>
  [...workers.records()].every(({ terminatedAt }) => terminatedAt !== undefined);
