import type { JournalEntry } from '../../../model/journal/journal.js';
import { IMAGE_DETECTION_PERIOD_MS } from '../../../streams/images/image-gc.js';
import type { Finding, Invariant } from './monitor.js';
import { isTerminal, mayRestartAll, roleOf } from './pod-spec.js';
import { type InstanceTruth, isLive, type PodTruth } from './pod-truth.js';

/** The agent reads what is in use a little before it acts; the replies may be late. Milliseconds. */
const SLACK_MS = 20_000;
/** The longest time that the agent takes to remove what it may. Milliseconds. */
const RECLAIM_MS = 60_000;

export const removalsAreDue: Invariant = {
  name: 'removals-are-due',
  rule: 'However clocks are set, the newest ended instance of a container stays while its pod is wanted, and an image goes only once it has been unused for its longest age in the time of one agent, or while the node is short of disk space.',
  source:
    'pkg/kubelet/kuberuntime/kuberuntime_gc.go, pkg/kubelet/images/image_gc_manager.go freeOldImages; with clocks that are set the rule is ours',
  watch: (truth, { imageMaxAgeMs }) => {
    /** When an image was last pulled, or last seen in use at the latest. Virtual milliseconds, by the name in pods. */
    const usedAt = new Map<string, number>();
    /** When the agent last began to make room on the disk of a node that is short of it. */
    let reclaimsSince = -Infinity;
    return {
      on: (event): readonly Finding[] | undefined => {
        switch (event.kind) {
          case 'image-pulled':
            // Another pull of an image does not show in the lists of the runtime.
            if (!event.wasThere) usedAt.set(event.image, event.at);
            return undefined;
          case 'container-removed': {
            const seenAt = lastSeenUse(truth.instances.get(event.containerId), event.at);
            usedAt.set(event.image, Math.max(usedAt.get(event.image) ?? 0, seenAt));
            return undefined;
          }
          case 'image-removed': {
            const isInUse = [...truth.instances.values()].some(
              ({ image, createdAt, removedAt }) =>
                removedAt === undefined && event.at - createdAt > SLACK_MS && event.names.includes(image),
            );
            const times = event.names.map((name) => usedAt.get(name) ?? 0);
            const since = isInUse ? event.at : Math.max(truth.lifeSince, ...times);
            const unusedMs = event.at - since;
            if (unusedMs >= imageMaxAgeMs - SLACK_MS) return undefined;
            if (!isInUse && event.at - reclaimsSince <= RECLAIM_MS) return undefined;
            const message = `image ${event.names[0]} is removed after ${unusedMs} ms without use (expected ${imageMaxAgeMs} ms at least)`;
            return [{ message }];
          }
          case 'journal':
            if (isReclaim(event.entry)) reclaimsSince = event.at;
            return undefined;
          case 'call': {
            if (event.call !== 'RemoveContainer') return undefined;
            const { uid = '', container = '', containerId = '' } = truth.subject(event);
            const pod = truth.pods.get(uid);
            const instance = truth.instances.get(containerId);
            if (!pod || !instance || !mustStay(pod, instance, event.at)) return undefined;
            const message = `instance ${containerId} with attempt ${instance.attempt} is removed (expected an older one to go)`;
            return [{ uid, container, message }];
          }
          default:
            return undefined;
        }
      },
    };
  },
};

const isReclaim = (entry: JournalEntry): boolean =>
  entry.kind === 'event' && entry.reason === 'EvictionThresholdMet' && !entry.message.endsWith(' memory');

/** The earliest time at which the agent may have seen the use of an image for the last time, by a container that is removed at `at`. */
const lastSeenUse = (instance: InstanceTruth | undefined, at: number): number => {
  const isSeen = instance !== undefined && at - instance.createdAt > IMAGE_DETECTION_PERIOD_MS + SLACK_MS;
  return isSeen ? at - IMAGE_DETECTION_PERIOD_MS - SLACK_MS : 0;
};

/** Whether it is the newest ended instance of a regular container, in a pod that goes on. */
const mustStay = (pod: PodTruth, instance: InstanceTruth, at: number): boolean => {
  const { container, startedAt, exitedAt, attempt } = instance;
  if (startedAt === undefined || exitedAt === undefined || !pod.wanted || mayGo(pod)) return false;
  if ((pod.forgottenAt ?? -1) >= startedAt) return false;
  // The containers of a new sandbox and a restart of all containers replace every instance.
  if (roleOf(pod.wanted, container) !== 'regular' || mayRestartAll(pod.wanted)) return false;
  return pod.instances.every(
    (other) =>
      other.container !== container ||
      other.attempt <= attempt ||
      // It may have been removed between the listing and this removal.
      (other.removedAt !== undefined && at - other.removedAt > SLACK_MS) ||
      // It had been created and not started when the agent listed it, which counts as ended.
      (isLive(other) && at - (other.startedAt ?? at) > SLACK_MS),
  );
};

/** Whether the pod has ended, is about to end, or has come back while it ended. */
const mayGo = ({ wanted, phase, shown, ...pod }: PodTruth): boolean =>
  wanted?.metadata.deletionTimestamp !== undefined ||
  [wanted?.status?.phase, phase, shown?.pod.status?.phase].some(isTerminal) ||
  [pod.terminatingSince, pod.killRequestedAt, pod.rejectedAt, pod.removalHandledAt].some((time) => time !== undefined);
