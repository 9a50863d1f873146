import type { JournalEntry } from '../../../model/journal/journal.js';
import type { MutablePod } from './pod-truth.js';

/** The agent at the time of an entry. */
export interface EntryTime {
  readonly at: number;
  /** Unix milliseconds by the wall clock of the agent. */
  readonly wall: number;
  /** The pods of the API server are those that an earlier agent has kept. */
  readonly usesKeptPods: boolean;
}

/** Changes the truth of a pod by an entry of the journal about it. */
export const applyEntry = (pod: MutablePod, entry: JournalEntry, { at, wall, usesKeptPods }: EntryTime): void => {
  switch (entry.kind) {
    case 'sync-started':
      pod.pass = {
        id: entry.id,
        work: entry.work,
        since: at,
        sinceWall: wall,
        graceSeconds: entry.graceSeconds,
      };
      pod.startDelayed = undefined;
      if (entry.work !== 'sync') pod.terminatingSince ??= at;
      break;
    case 'sync-ended':
      if (pod.pass) pod.lastPass = { ...pod.pass, ended: entry, endedAt: at };
      pod.pass = undefined;
      // A worker that could not read its pod has not seen its state.
      if (entry.error?.startsWith('error determining status')) break;
      pod.passBeforeEndedAt = pod.lastPassEndedAt;
      pod.lastPassEndedAt = at;
      break;
    case 'forgotten': {
      // A pod that was added again while it ended keeps its status.
      const shown = pod.wanted && pod.shown;
      forgetLife(pod);
      pod.shown = shown;
      pod.forgottenAt = at;
      break;
    }
    case 'admission-rejected':
      pod.rejectedAt = at;
      break;
    case 'kill-requested':
      pod.killRequestedAt = at;
      break;
    case 'config':
      if (entry.op === 'REMOVE') pod.removalHandledAt = at;
      if (entry.op === 'ADD') pod.addedAt = at;
      // Pods that an earlier agent has kept may have changed meanwhile.
      if (entry.source === 'api' && usesKeptPods) break;
      if (entry.op === 'ADD' || entry.op === 'UPDATE') pod.heardAt = at;
      break;
    case 'housekeeping':
      if (isRebirth(entry)) {
        const { addedAt, heardAt } = pod;
        forgetLife(pod);
        pod.addedAt = addedAt;
        pod.heardAt = heardAt;
        pod.forgottenAt = at;
      }
      break;
    case 'start-delayed':
      pod.startDelayed = { at, holder: entry.holder.uid };
      break;
    case 'phase':
      pod.phase = entry.to;
      break;
    case 'probe':
      if (entry.probe !== 'readiness' && entry.result === 'failure' && entry.container !== undefined)
        pod.probeFailedAt.set(entry.container, at);
      break;
    case 'back-off': {
      const container = entry.container ?? '';
      pod.backOffUntil.set(entry.subject === 'restart' ? container : `${container} image`, entry.until);
      break;
    }
    default:
      break;
  }
};

/** Whether the agent goes on with kept pods after the entry; undefined if the entry does not change that. */
export const keptPodsAfter = (entry: JournalEntry): boolean | undefined => {
  if (entry.kind === 'config-problem' && entry.source === 'api' && KEPT_PODS.test(entry.problem)) return true;
  return entry.kind === 'config-recovered' && entry.source === 'api' ? false : undefined;
};

/** From here on the agent knows nothing of its earlier actions for the pod. */
export const isRebirth = (entry: JournalEntry): boolean =>
  entry.kind === 'forgotten' ||
  (entry.kind === 'housekeeping' && entry.finding.startsWith('the pod is wanted and nothing works on it'));

/** The facts that only the running agent knows of a pod. */
export const forgetLife = (pod: MutablePod): void => {
  pod.pass = undefined;
  pod.lastPass = undefined;
  pod.lastPassEndedAt = undefined;
  pod.passBeforeEndedAt = undefined;
  pod.terminatingSince = undefined;
  pod.rejectedAt = undefined;
  pod.killRequestedAt = undefined;
  pod.removalHandledAt = undefined;
  pod.addedAt = undefined;
  pod.heardAt = undefined;
  pod.startDelayed = undefined;
  pod.phase = undefined;
  pod.shown = undefined;
  pod.backOffUntil.clear();
  pod.probeFailedAt.clear();
};

/** The problem by which the agent says that its pods are those that an earlier agent has kept. */
const KEPT_PODS = /^the API server is away: going on with the pods that it had/;
