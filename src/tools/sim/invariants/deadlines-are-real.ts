import type { Invariant } from './monitor.js';

/** Start times are whole seconds. */
const SLACK_MS = 1_000;

export const deadlinesAreReal: Invariant = {
  name: 'deadlines-are-real',
  rule: 'However clocks are set, a pod fails for its deadline only once it has been there for that time, if one agent has had it from its start or no clock was set since.',
  source: 'pkg/kubelet/active_deadline.go pastActiveDeadline; with clocks that are set the rule is ours',
  watch: (truth) => {
    /** The pods that have failed for a deadline; that another one is set later changes nothing. */
    const failed = new Set<string>();
    return {
      on: (event) => {
        if (event.kind !== 'status') return undefined;
        if (event.pod?.status?.reason !== 'DeadlineExceeded') {
          failed.delete(event.uid);
          return undefined;
        }
        if (failed.has(event.uid)) return undefined;
        failed.add(event.uid);
        const pod = truth.pods.get(event.uid);
        const { wantedSince, addedAt } = pod ?? {};
        if (!pod?.wanted || wantedSince === undefined || addedAt === undefined) return undefined;
        // The start time of a static pod may be that of the mirror pod of its former version.
        if (truth.hasApi && pod.source !== 'api') return undefined;
        // One that comes back under its UID goes on with its former start.
        const isOneTime = wantedSince >= truth.lifeSince || (truth.oneClockSince ?? Infinity) <= wantedSince;
        const isOwn = isOneTime && pod.sandboxes.every(({ createdAt }) => createdAt >= wantedSince);
        if (!isOwn) return undefined;
        const deadlineMs = (pod.wanted.spec.activeDeadlineSeconds ?? 0) * 1000;
        const activeMs = event.at - Math.min(wantedSince, addedAt);
        if (activeMs >= deadlineMs - SLACK_MS) return undefined;
        return [
          { uid: pod.uid, message: `fails for its deadline after ${activeMs} ms (expected ${deadlineMs} ms at least)` },
        ];
      },
    };
  },
};
