import { containersOf, type Pod } from '../pod/pod.js';
import type { Rejection } from './rejection.js';

const ANNOTATION_PREFIX = 'container.apparmor.security.beta.kubernetes.io/';

/**
 * Rejects a pod with an AppArmor profile on a node without AppArmor. A running pod is not checked again.
 *
 * Source: pkg/security/apparmor/validate.go, pkg/kubelet/lifecycle/handlers.go appArmorAdmitHandler
 */
export const appArmorRejection = (pod: Pod, hasAppArmor: boolean): Rejection | undefined => {
  if ((pod.status?.phase ?? 'Pending') !== 'Pending' || !wantsAppArmor(pod)) return undefined;
  const problem = hasAppArmor ? emptyProfile(pod) : 'AppArmor is not enabled on the host';
  return problem === undefined ? undefined : { reason: 'AppArmor', message: `Cannot enforce AppArmor: ${problem}` };
};

const profilesOf = (pod: Pod) => [
  pod.spec.securityContext?.appArmorProfile,
  ...containersOf(pod).map(({ container }) => container.securityContext?.appArmorProfile),
];

const wantsAppArmor = (pod: Pod): boolean =>
  profilesOf(pod).some((profile) => profile && profile.type !== 'Unconfined') ||
  Object.entries(pod.metadata.annotations ?? {}).some(
    ([key, value]) => key.startsWith(ANNOTATION_PREFIX) && value !== 'unconfined',
  );

const emptyProfile = (pod: Pod): string | undefined => {
  const isEmpty = profilesOf(pod).some((profile) => profile?.type === 'Localhost' && !profile.localhostProfile?.trim());
  return isEmpty ? 'invalid empty AppArmor profile name: ""' : undefined;
};
