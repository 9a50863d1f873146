import type { Finding, Invariant } from './monitor.js';

/** The longest time by which the next sync of a pod is late for another reason. Milliseconds. */
const SLACK_MS = 1_000;

/** A wait that one agent has begun. */
interface Wait {
  readonly firstAt: number;
  /** The ended instance or the failed pull, and the version of the pod. */
  readonly of: string;
}

export const waitsEnd: Invariant = {
  name: 'waits-end',
  rule: 'However clocks are set and differ, a back-off of a container or of a pull is over after its delay, counted from when the agent first saw the reason for it.',
  source:
    'pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff, pkg/kubelet/images/image_manager.go pullImage; with clocks that are set the rule is ours',
  watch: (truth) => {
    const waits = new Map<string, Wait>();
    const pulls = new Map<string, number>();
    /** Instances that the present run of their pod has asked to stop, by the run: it decides by the ends before. */
    const stopped = new Map<string, string>();
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'agent-started') waits.clear();
        if (event.kind === 'call' && event.call === 'PullImage') {
          const { uid = '' } = truth.subject(event);
          pulls.set(uid, event.number);
        }
        if (event.kind === 'call' && event.call === 'StopContainer') {
          const { uid = '', containerId = '' } = truth.subject(event);
          stopped.set(containerId, truth.pods.get(uid)?.pass?.id ?? '');
        }
        if (event.kind !== 'journal' || event.entry.kind !== 'back-off') return undefined;
        const { entry } = event;
        const { uid = '' } = entry.pod ?? {};
        const container = entry.container ?? '';
        const pod = truth.pods.get(uid);
        const ended = pod?.instances.findLast(
          ({ container: own, exitedAt, containerId }) =>
            own === container && exitedAt !== undefined && (!pod.pass || stopped.get(containerId) !== pod.pass.id),
        );
        const version = pod?.specSince;
        const of = entry.subject === 'restart' ? `${ended?.containerId}` : `${pulls.get(uid)}`;
        const key = `${uid} ${container} ${entry.subject}`;
        const known = waits.get(key);
        // Another version of the container has another back-off.
        const wait = known?.of === `${of} ${version}` ? known : { firstAt: event.at, of: `${of} ${version}` };
        waits.set(key, wait);
        const waitedMs = event.at - wait.firstAt;
        const leftMs = entry.until - truth.wall(event.at);
        if (waitedMs <= entry.delayMs + SLACK_MS && leftMs <= entry.delayMs + SLACK_MS) return undefined;
        const message = `has waited ${waitedMs} ms and waits ${leftMs} ms more (expected ${entry.delayMs} ms in all)`;
        return [{ uid, container, message }];
      },
    };
  },
};
