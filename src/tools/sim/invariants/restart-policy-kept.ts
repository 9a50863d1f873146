import type { Pod } from '../../../model/pod/pod.js';
import type { Invariant } from './monitor.js';
import type { Finding } from './monitor.js';
import { mayRestartAll, policyOf, restarts, roleOf } from './pod-spec.js';
import type { InstanceTruth } from './pod-truth.js';
import type { WorldTruth } from './world-truth.js';
import type { SimulatedInstance } from '../world/world-event.js';

export const restartPolicyKept: Invariant = {
  name: 'restart-policy-kept',
  rule: 'A container that its restart policy leaves ended is not started again: none under Never, none under OnFailure that ended with 0, no completed init container within its sandbox; after a boot also none whose end only the API still shows, and none of a pod under Never of which the runtime has forgotten that it ran.',
  source: 'pkg/kubelet/container/helpers.go ShouldContainerBeRestarted',
  watch: (truth) => {
    /** Instances that a run has stopped, by the run: it may do so to start another one. */
    const stopped = new Map<string, string>();
    /**
     * Containers whose next instance such a run has created but not started: a container that was created and never
     * started is created again.
     */
    const owed = new Set<string>();
    let shownAtBoot: ReadonlyMap<string, ShownEnd> = new Map();
    /** Containers of which the runtime has forgotten that they had started. */
    const forgotten = new Map<string, SimulatedInstance & { readonly at: number }>();
    return {
      on: (event): readonly Finding[] | undefined => {
        if (event.kind === 'booted') shownAtBoot = shownEnds(truth);
        if (event.kind === 'container-start-lost') forgotten.set(`${event.uid} ${event.container}`, event);
        if (event.kind === 'call' && event.call === 'StopContainer') {
          const { uid = '', containerId = '' } = truth.subject(event);
          stopped.set(containerId, truth.pods.get(uid)?.pass?.id ?? '');
          return undefined;
        }
        if (event.kind !== 'container-started' && event.kind !== 'container-created') return undefined;
        const { uid, container, containerId, image, sandboxId } = event;
        const pod = truth.pods.get(uid);
        if (!pod?.manifest) return undefined;
        const ran = forgotten.get(`${uid} ${container}`);
        if (
          ran?.image === image &&
          event.kind === 'container-started' &&
          pod.manifest.spec.restartPolicy === 'Never' &&
          (pod.forgottenAt ?? -1) < ran.at &&
          !mayRestartAll(pod.manifest)
        ) {
          const message = 'was started again after the boot, though it had run before and its pod has the policy Never';
          return [{ uid, container, message }];
        }
        const shown = shownAtBoot.get(`${uid} ${container}`);
        if (
          shown?.instance.image === image &&
          !(shown.instance.sandboxId !== sandboxId && runsInEachSandbox(pod.manifest, container)) &&
          event.kind === 'container-started' &&
          roleOf(pod.manifest, container) === 'regular' &&
          !mayRestartAll(pod.manifest) &&
          !restarts(pod.manifest, container, shown.exitCode)
        ) {
          const message = `was started again after the boot, though the API shows its end with ${shown.exitCode}`;
          return [{ uid, container, message }];
        }
        const before = pod.instances.findLast(
          (other) =>
            other.container === container && other.containerId !== containerId && other.startedAt !== undefined,
        );
        const key = `${uid} ${container}`;
        if (event.kind === 'container-created') {
          if (before && pod.pass && stopped.get(before.containerId) === pod.pass.id) owed.add(key);
          return undefined;
        }
        const isOwed = owed.delete(key);
        // A changed definition restarts with any policy, and an init container runs again in another sandbox.
        if (before?.exitCode === undefined || before.image !== image) return undefined;
        if ((pod.forgottenAt ?? -1) >= (before.startedAt ?? 0)) return undefined;
        const policy = policyOf(pod.manifest, container);
        // A container that has failed a probe is started again after any exit, unless the policy is Never.
        const isOfThatPass = pod.pass !== undefined && stopped.get(before.containerId) === pod.pass.id;
        if (policy !== 'Never' && (isOfThatPass || isOwed)) return undefined;
        if (isInitOfAnotherSandbox(before, sandboxId, pod.manifest.spec.initContainers)) return undefined;
        const isGone = before.removedAt !== undefined;
        if (before.sandboxId !== sandboxId && (isGone || runsInEachSandbox(pod.manifest, container))) return undefined;
        if (mayRestartAll(pod.manifest) || restarts(pod.manifest, container, before.exitCode)) return undefined;
        const message = `was started again after it had ended with ${before.exitCode} (expected policy ${policy} to leave it)`;
        return [{ uid, container, message }];
      },
    };
  },
};

/** An end that the status of a pod in the API shows. */
interface ShownEnd {
  readonly instance: InstanceTruth;
  readonly exitCode: number;
}

/** The ends of the newest instances, by pod and container. */
const shownEnds = ({ apiPods, instances }: WorldTruth): ReadonlyMap<string, ShownEnd> =>
  new Map(
    apiPods.flatMap(({ metadata: { uid }, status }) =>
      (status?.containerStatuses ?? []).flatMap(({ name, containerID = '', state }): [string, ShownEnd][] => {
        const instance = instances.get(containerID.replace(/^[^:]*:\/\//, ''));
        if (!state?.terminated || !instance) return [];
        return [[`${uid} ${name}`, { instance, exitCode: state.terminated.exitCode }]];
      }),
    ),
  );

/**
 * A new sandbox starts every container except those that have succeeded under OnFailure, and so those that a policy Never of their own
 * leaves ended. A pod with the policy Never gets no new sandbox, as long as a container of it is left.
 */
const runsInEachSandbox = (pod: Pod, container: string): boolean =>
  policyOf(pod, container) === 'Never' && pod.spec.restartPolicy !== 'Never';

const isInitOfAnotherSandbox = (
  { container, sandboxId }: InstanceTruth,
  now: string,
  initContainers: readonly { readonly name: string }[] = [],
): boolean => sandboxId !== now && initContainers.some(({ name }) => name === container);
