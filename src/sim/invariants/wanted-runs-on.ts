import { containerOf, isTerminal, roleOf } from './pod-spec.js';
import type { Finding, Invariant } from './monitor.js';
import { isLive, isReady, type PodTruth } from './world-truth.js';

export const wantedRunsOn: Invariant = {
  name: 'wanted-runs-on',
  rule: 'What a source wants and what is well is left alone, whatever the agent has gone through: a wanted pod is not terminated without a reason of its own, and no container of it is stopped that has not changed and has failed no probe.',
  source:
    'pkg/kubelet/kubelet_pods.go HandlePodCleanups, pkg/kubelet/kuberuntime/kuberuntime_manager.go computePodActions',
  watch: (truth) => {
    /** When a pod last had another number of ready sandboxes than one. */
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
            return [
              { uid: pod.uid, message: 'is terminated though its source wants it (expected it to be left alone)' },
            ];
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
            return [{ uid, container, message: 'is stopped though nothing about it has changed or failed' }];
          }
          default:
            return undefined;
        }
      },
    };
  },
};

/** Why a pod may stop though its source wants it. */
const mayEnd = ({ wanted, phase, shown, ...pod }: PodTruth): boolean =>
  wanted?.metadata.deletionTimestamp !== undefined ||
  wanted?.spec.activeDeadlineSeconds !== undefined ||
  isTerminal(wanted?.status?.phase) ||
  isTerminal(phase) ||
  isTerminal(shown?.pod.status?.phase) ||
  // It had gone, and has come back before it had ended.
  [pod.killRequestedAt, pod.rejectedAt, pod.removalHandledAt].some((at) => at !== undefined);

/** Why one container of a pod may be stopped that goes on. */
const stopReason = (pod: PodTruth, container: string, image: string, startedAt: number): boolean => {
  const { wanted } = pod;
  if (!wanted || roleOf(wanted, container) !== 'regular') return true;
  const spec = containerOf(wanted, container);
  if (spec?.image !== image || spec.lifecycle?.postStart !== undefined) return true;
  if (wanted.spec.containers.some(({ restartPolicyRules }) => restartPolicyRules !== undefined)) return true;
  if (wanted.spec.initContainers?.some(({ restartPolicyRules }) => restartPolicyRules !== undefined)) return true;
  // The pass may work on the version before.
  if (pod.pass && pod.specSince >= pod.pass.since) return true;
  return (pod.probeFailedAt.get(container) ?? -1) >= startedAt;
};
