import type { Container, Pod } from '../pod/pod.js';

/** The action of a container's rule for an exit code. */
export type RestartAction = 'Restart' | 'RestartAllContainers';

/** The `reason` of the state of an instance that was removed together with all others. */
export const RESTARTING_ALL_CONTAINERS = 'RestartingAllContainers';

/** The first rule that matches `exitCode`, if any. Source: pkg/api/v1/pod/util.go FindMatchingContainerRestartRule. */
export const matchingRule = (
  { restartPolicyRules }: Container,
  exitCode: number,
): NonNullable<Container['restartPolicyRules']>[number] | undefined =>
  restartPolicyRules?.find(({ exitCodes }) => {
    if (exitCodes === undefined) return false;
    const listed = exitCodes.values?.includes(exitCode) ?? false;
    return exitCodes.operator === 'In' ? listed : exitCodes.operator === 'NotIn' && !listed;
  });

/** Returns the action of that rule. Rules decide about a restart only together with the container's own restart policy. */
export const matchingRestartAction = (container: Container, exitCode: number): RestartAction | undefined => {
  if (container.restartPolicy === undefined) return undefined;
  const rule = matchingRule(container, exitCode);
  return rule?.action === 'Restart' || rule?.action === 'RestartAllContainers' ? rule.action : undefined;
};

/** A decision about an ended container, with the rule or policy that made it in words. */
export interface RestartVerdict {
  readonly restart: boolean;
  readonly because: string;
}

/**
 * Decides whether a container that ended with `exitCode` is started again, without regard to the end of its pod.
 *
 * Source: pkg/api/v1/pod/util.go ContainerShouldRestart.
 */
export const restartVerdict = (pod: Pod, container: Container, exitCode: number): RestartVerdict => {
  const action = matchingRestartAction(container, exitCode);
  if (action !== undefined) {
    return { restart: true, because: `a restart rule with action ${action} matches exit code ${exitCode}` };
  }
  const [policy, whose] =
    container.restartPolicy === undefined
      ? [pod.spec.restartPolicy ?? 'Always', 'restartPolicy']
      : [container.restartPolicy, 'its own restartPolicy'];
  switch (policy) {
    case 'Never':
      return { restart: false, because: `${whose} Never leaves it` };
    case 'OnFailure':
      return exitCode === 0
        ? { restart: false, because: `${whose} OnFailure leaves what succeeded` }
        : { restart: true, because: `${whose} OnFailure restarts it` };
    default:
      return container.restartPolicy === undefined || policy === 'Always'
        ? { restart: true, because: `${whose} Always restarts it` }
        : { restart: false, because: `${whose} ${policy} is not one that restarts` };
  }
};

/** Whether the phase of a pod still counts on this container. Source: pkg/kubelet/kubelet_pods.go getPhase. */
export const restartable = (
  pod: Pod,
  container: Container,
  terminated: { exitCode: number; reason?: string },
): boolean =>
  terminated.reason === RESTARTING_ALL_CONTAINERS || restartVerdict(pod, container, terminated.exitCode).restart;

/** Whether the next sync starts this ended container again. Source: pkg/kubelet/container/helpers.go ShouldContainerBeRestarted. */
export const shouldRestart = (pod: Pod, container: Container, exitCode: number): boolean =>
  pod.metadata.deletionTimestamp === undefined && restartVerdict(pod, container, exitCode).restart;

/** Restart rules say nothing about a container that the agent itself ends, so only the policies count. */
export const restartsAfterKill = (pod: Pod, container: Container): boolean =>
  (container.restartPolicy ?? pod.spec.restartPolicy) !== 'Never';

/** Success is final for this container: a new sandbox does not run it again. */
export const runsUntilSuccess = (pod: Pod, container: Container): boolean =>
  (container.restartPolicy ?? pod.spec.restartPolicy) === 'OnFailure';

/** Source: pkg/api/v1/pod/util.go AllContainersCouldRestart. */
export const hasRestartAllRule = (container: Container): boolean =>
  container.restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers') ?? false;
