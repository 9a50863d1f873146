import { killTimeoutMs } from '../../../model/pod-workers/kill-timeout.js';
import { groupPods } from '../../../model/shutdown/group-pods.js';
import type { Finding, Invariant } from './monitor.js';
import { isLive, type PodTruth } from './pod-truth.js';

/** The time of the agent's own steps and of its files. */
const STEPS_MS = 5_000;

/**
 * When the time of a pod is over: that of its group, which begins early if those below have ended early, or the wait for a pod that does not
 * stop.
 */
const endOf = ({ groups, stops }: Shutdown, uid: string): number => {
  const group = groups.get(uid);
  if (!group) return 0;
  const stop = stops.get(uid);
  return stop ? stop.at + Math.min(group.graceSeconds * 1_000, killTimeoutMs(stop.graceSeconds)) : group.endsAt;
};

interface GroupTruth {
  /** Lower ones are stopped before. */
  readonly rank: number;
  readonly graceSeconds: number;
  /** When it has to be over at the latest. */
  readonly endsAt: number;
}

/** A shutdown that the agent delays. */
interface Shutdown {
  /** A pod that comes back later, with its manifest, runs until the machine is off. */
  readonly since: number;
  /** The groups of pods, by the UIDs of these. */
  readonly groups: ReadonlyMap<string, GroupTruth>;
  /** When the stop of a pod began, and its grace period, by its UID. */
  readonly stops: Map<string, { readonly at: number; readonly graceSeconds: number }>;
  /** When the machine has to be off at the latest. */
  readonly offAt: number;
}

export const shutdownInOrder: Invariant = {
  name: 'shutdown-in-order',
  rule: 'Before the machine shuts down, a pod is stopped only once the pods of lower groups have ended or their time is over, within the time of its group; the machine waits as long as that, and no longer.',
  source: 'pkg/kubelet/nodeshutdown/nodeshutdown_manager.go killPods',
  watch: (truth, { shutdownGroups }) => {
    let shutdown: Shutdown | undefined;
    const running = (since = Infinity): readonly PodTruth[] =>
      [...truth.pods.values()].filter(({ instances }) =>
        instances.some((one) => isLive(one) && (one.startedAt ?? Infinity) <= since),
      );
    const begin = (at: number): Shutdown => {
      const manifests = [...truth.pods.values()].flatMap(({ wanted }) => (wanted ? [wanted] : []));
      const groups = new Map<string, GroupTruth>();
      let endsAt = at;
      for (const [rank, { graceSeconds, pods }] of groupPods(shutdownGroups, manifests).entries()) {
        endsAt += graceSeconds * 1_000;
        for (const { metadata } of pods) groups.set(metadata.uid, { rank, graceSeconds, endsAt });
      }
      return { since: at, groups, stops: new Map(), offAt: endsAt + STEPS_MS };
    };
    return {
      on: (event): readonly Finding[] | undefined => {
        switch (event.kind) {
          case 'shutdown-requested':
            shutdown = event.isDelayed ? begin(event.at) : undefined;
            return undefined;
          case 'agent-killed':
          case 'agent-stopped':
            shutdown = undefined;
            return undefined;
          case 'power-lost': {
            const over = shutdown;
            shutdown = undefined;
            if (!over) return undefined;
            if (event.at > over.offAt)
              return [{ message: `the machine is off ${event.at - over.offAt} ms after the time of all groups` }];
            return running(over.since)
              .filter(({ uid }) => event.at < endOf(over, uid))
              .map(({ uid }) => ({
                uid,
                message: 'runs when the machine is off, before the time of its group is over',
              }));
          }
          case 'journal': {
            const { entry } = event;
            const uid = entry.pod?.uid;
            if (!shutdown || entry.kind !== 'kill-requested' || entry.reason !== 'the node shuts down')
              return undefined;
            const own = shutdown.groups.get(uid ?? '');
            if (uid === undefined || own === undefined) return undefined;
            const present = shutdown;
            const { graceSeconds = Infinity } = entry;
            present.stops.set(uid, { at: event.at, graceSeconds });
            if (graceSeconds > own.graceSeconds)
              return [{ uid, message: `gets ${graceSeconds} s, but its group has ${own.graceSeconds} s` }];
            return running(present.since)
              .filter((other) => {
                const { rank } = present.groups.get(other.uid) ?? own;
                return rank < own.rank && event.at < endOf(present, other.uid);
              })
              .map((other) => ({ uid, message: `is stopped while ${other.name} of a lower group runs` }));
          }
          default:
            return undefined;
        }
      },
    };
  },
};
