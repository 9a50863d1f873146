import type { Container, Pod } from '../../../model/pod/pod.js';

/**
 * The rules of a pod's spec, implemented a second time: an invariant that used the tested code would repeat its
 * mistakes.
 */
export type Role = 'init' | 'sidecar' | 'regular' | 'ephemeral';

export const roleOf = (pod: Pod, name: string): Role | undefined => {
  if (pod.spec.containers.some((container) => container.name === name)) return 'regular';
  const init = pod.spec.initContainers?.find((container) => container.name === name);
  if (init) return init.restartPolicy === 'Always' ? 'sidecar' : 'init';
  return pod.spec.ephemeralContainers?.some((container) => container.name === name) ? 'ephemeral' : undefined;
};

export const containerOf = (pod: Pod, name: string): Container | undefined =>
  [...pod.spec.containers, ...(pod.spec.initContainers ?? [])].find((container) => container.name === name);

/** Whether an instance that ended with that code has a successor. */
export const restarts = (pod: Pod, name: string, exitCode: number): boolean => {
  const role = roleOf(pod, name);
  if (role === 'ephemeral') return false;
  const container = containerOf(pod, name);
  if (role === 'sidecar') return true;
  const policy = policyOf(pod, name);
  // Rules only add restarts to those of the policy.
  const isRuled =
    container?.restartPolicy !== undefined &&
    container.restartPolicyRules?.some(
      ({ exitCodes }) => exitCodes?.values?.includes(exitCode) === (exitCodes?.operator === 'In'),
    );
  if (isRuled) return true;
  // A regular init container is complete once it has succeeded.
  if (role === 'init' && exitCode === 0) return false;
  return policy === 'Always' || (policy === 'OnFailure' && exitCode !== 0);
};

export const policyOf = (pod: Pod, name: string): string =>
  containerOf(pod, name)?.restartPolicy ?? pod.spec.restartPolicy ?? 'Always';

/** Whether an exit of one container may start all of them again, completed ones included. */
export const mayRestartAll = ({ spec }: Pod): boolean =>
  [...spec.containers, ...(spec.initContainers ?? [])].some(({ restartPolicyRules }) =>
    restartPolicyRules?.some(({ action }) => action === 'RestartAllContainers'),
  );

/** Whether its end with that code starts all containers of the pod again, which removes every instance. */
export const asksForAll = (pod: Pod, name: string, exitCode: number): boolean => {
  const rule = containerOf(pod, name)?.restartPolicyRules?.find(
    ({ exitCodes }) => exitCodes?.values?.includes(exitCode) === (exitCodes?.operator === 'In'),
  );
  return rule?.action === 'RestartAllContainers';
};

/** The longest grace period of the pod, in seconds. */
export const longestGraceSeconds = ({ metadata, spec }: Pod): number =>
  Math.max(
    metadata.deletionGracePeriodSeconds ?? 0,
    spec.terminationGracePeriodSeconds ?? 2,
    ...[...spec.containers, ...(spec.initContainers ?? [])].flatMap(({ livenessProbe, startupProbe }) =>
      [livenessProbe, startupProbe].map((probe) => probe?.terminationGracePeriodSeconds ?? 0),
    ),
  );

export const isTerminal = (phase: string | undefined): boolean => phase === 'Succeeded' || phase === 'Failed';

export const isStaticSource = (source: string | undefined): boolean => source !== 'api';

/** The effective pods of a set: the first of a name, and of those the first of a UID. */
export const withoutDuplicates = (pods: readonly Pod[]): readonly Pod[] => {
  const seen = new Set<string>();
  return pods.filter(({ metadata: { uid, name, namespace } }) => {
    const keys = [uid, `${namespace}/${name}`];
    const isFirst = keys.every((key) => !seen.has(key));
    keys.forEach((key) => seen.add(key));
    return isFirst;
  });
};
