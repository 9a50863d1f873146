import type { Pod } from '../../model/pod.js';
import type { Invariant } from './monitor.js';
import { mayRestartAll, policyOf, restarts } from './pod-spec.js';
import { type InstanceTruth, isRebirth } from './world-truth.js';

export const restartPolicyKept: Invariant = {
  name: 'restart-policy-kept',
  rule: 'What its restart policy leaves ended is not started again: nothing under Never, nothing under OnFailure that ended with 0, no init container that is done within its sandbox.',
  source: 'pkg/kubelet/container/helpers.go ShouldContainerBeRestarted',
  watch: (truth) => {
    const forgottenAt = new Map<string, number>();
    /** Instances that a pass has asked to stop, by the pass: it may do so to start another one. */
    const stopped = new Map<string, string>();
    return {
      on: (event) => {
        if (event.kind === 'journal' && isRebirth(event.entry)) {
          if (event.entry.pod) forgottenAt.set(event.entry.pod.uid, event.at);
          return undefined;
        }
        if (event.kind === 'call' && event.call === 'StopContainer') {
          const { uid = '', containerId = '' } = truth.subject(event);
          stopped.set(containerId, truth.pods.get(uid)?.pass?.id ?? '');
          return undefined;
        }
        if (event.kind !== 'container-started') return undefined;
        const { uid, container, containerId, image, sandboxId } = event;
        const pod = truth.pods.get(uid);
        if (!pod?.manifest) return undefined;
        const before = pod.instances.findLast(
          (other) =>
            other.container === container && other.containerId !== containerId && other.startedAt !== undefined,
        );
        // A changed definition restarts whatever the policy, and an init container runs again in another sandbox.
        if (before?.exitCode === undefined || before.image !== image) return undefined;
        if ((forgottenAt.get(uid) ?? -1) >= (before.startedAt ?? 0)) return undefined;
        const policy = policyOf(pod.manifest, container);
        // What has failed a probe is started again, whatever it ends with, unless nothing is.
        if (policy !== 'Never' && pod.pass && stopped.get(before.containerId) === pod.pass.id) return undefined;
        if (isInitOfAnotherSandbox(before, sandboxId, pod.manifest.spec.initContainers)) return undefined;
        if (before.sandboxId !== sandboxId && mayStartOver(before, policy, pod.manifest)) return undefined;
        if (mayRestartAll(pod.manifest) || restarts(pod.manifest, container, before.exitCode)) return undefined;
        const message = `was started again after it had ended with ${before.exitCode} (expected policy ${policy} to leave it)`;
        return [{ uid, container, message }];
      },
    };
  },
};

/**
 * A new sandbox starts everything but what has succeeded under OnFailure, also what Never leaves ended and what is gone without
 * a trace; a pod that is Never as a whole gets none, as long as anything is left to tell that it has run.
 */
const mayStartOver = ({ removedAt }: InstanceTruth, policy: string, { spec }: Pod): boolean =>
  removedAt !== undefined || (policy === 'Never' && spec.restartPolicy !== 'Never');

const isInitOfAnotherSandbox = (
  { container, sandboxId }: InstanceTruth,
  now: string,
  initContainers: readonly { readonly name: string }[] = [],
): boolean => sandboxId !== now && initContainers.some(({ name }) => name === container);
