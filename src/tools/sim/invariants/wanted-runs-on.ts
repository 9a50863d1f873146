import { containerOf, isTerminal, roleOf } from './pod-spec.js';
import type { Finding, Invariant } from './monitor.js';
import { isLive, isReady, lateNewsMs, type PodTruth } from './pod-truth.js';

export const wantedRunsOn: Invariant = {
  name: 'wanted-runs-on',
  rule: 'A desired and healthy pod keeps running through every fault of the agent: it is not terminated without a reason of its own, and no container of it is stopped that has not changed and has failed no probe.',
  source:
    'pkg/kubelet/kubelet_pods.go HandlePodCleanups, pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions',
  watch: (truth) => {
    /** When a pod last had no or several ready sandboxes. */
    const sandboxesOddAt = new Map<string, number>();
    return {
      on: (event): readonly Finding[] | undefined => {
        switch (event.kind) {
          case 'sandbox-created':
          case 'sandbox-stopped':
          case 'sandbox-removed':
            sandboxesOddAt.set(event.uid, event.at);
            return undefined;
          case 'journal': {
            const { entry } = event;
            const pod = truth.pods.get(entry.pod?.uid ?? '');
            if (
              !pod ||
              entry.kind !== 'sync-started' ||
              entry.work !== 'terminating' ||
              pod.terminatingSince !== undefined
            ) {
              return undefined;
            }
            if (!pod.wanted || mayEnd(pod)) return undefined;
            return [{ uid: pod.uid, message: 'is terminated though its source has it (expected it to keep running)' }];
          }
          case 'call': {
            if (event.call !== 'StopContainer') return undefined;
            const { uid = '', container = '', containerId = '' } = truth.subject(event);
            const pod = truth.pods.get(uid);
            const instance = truth.instances.get(containerId);
            if (!pod?.wanted || pod.pass?.work !== 'sync' || !instance || !isLive(instance)) return undefined;
            const seenSince = pod.lastPassEndedAt ?? truth.lifeSince;
            const ready = pod.sandboxes.filter(isReady);
            if (ready.length !== 1 || (sandboxesOddAt.get(uid) ?? 0) >= seenSince) return undefined;
            const reason = stopReason(pod, container, instance.image, instance.startedAt ?? 0);
            if (reason) return undefined;
            return [{ uid, container, message: 'is stopped though it has neither changed nor failed' }];
          }
          default:
            return undefined;
        }
      },
    };
  },
};

/** The reason why a pod may stop though its source has it. */
const mayEnd = ({ wanted, phase, shown, ...pod }: PodTruth): boolean =>
  wanted?.metadata.deletionTimestamp !== undefined ||
  wanted?.spec.activeDeadlineSeconds !== undefined ||
  isTerminal(wanted?.status?.phase) ||
  isTerminal(phase) ||
  isTerminal(shown?.pod.status?.phase) ||
  // It was removed, and added again before it had ended.
  [pod.killRequestedAt, pod.rejectedAt, pod.removalHandledAt].some((at) => at !== undefined);

/** The reason why one container of a pod that goes on may be stopped. */
const stopReason = (pod: PodTruth, container: string, image: string, startedAt: number): boolean => {
  const { wanted } = pod;
  if (!wanted || roleOf(wanted, container) !== 'regular') return true;
  const spec = containerOf(wanted, container);
  if (spec?.image !== image || spec.lifecycle?.postStart !== undefined) return true;
  if (wanted.spec.containers.some(({ restartPolicyRules }) => restartPolicyRules !== undefined)) return true;
  if (wanted.spec.initContainers?.some(({ restartPolicyRules }) => restartPolicyRules !== undefined)) return true;
  // The run may use a version before.
  const otherImageUntil = (pod.imageChangedAt.get(container) ?? -Infinity) + lateNewsMs(pod);
  if (pod.pass && Math.max(pod.specSince, otherImageUntil) >= pod.pass.since) return true;
  return (pod.probeFailedAt.get(container) ?? -1) >= startedAt;
};
