import type { AdmissionFacts } from './admission-facts.js';
import { isStaticPod, type Pod, podFullName } from '../pod/pod.js';
import { appArmorRejection } from './app-armor.js';
import { takenPort } from './host-ports.js';
import { selectsNode } from './node-affinity.js';
import { type Admit, firstRejection, type Rejection } from './rejection.js';
import { resourceRejection } from './resource-fit.js';
import { safeSysctls, sysctlRejection } from './sysctls.js';
import { toleratesTaints } from './taints.js';

/**
 * Decides whether a node admits a pod: first by its kernel parameters, then by its demands on the node, then by
 * AppArmor.
 *
 * Source: pkg/kubelet/kubelet.go, the order of the admit handlers; pkg/kubelet/lifecycle/predicate.go
 */
export const admitPod = (facts: () => AdmissionFacts): Admit =>
  firstRejection(
    (pod) => {
      const { kernelVersion, allowedUnsafeSysctls } = facts();
      return sysctlRejection(pod, [...safeSysctls(kernelVersion), ...allowedUnsafeSysctls]);
    },
    osRejection,
    (pod) => supplementalGroupsRejection(pod, facts()),
    (pod, active) => resourceRejection(pod, active, facts().allocatable),
    (pod, active) => placeRejection(pod, active, facts()),
    (pod) => appArmorRejection(pod, facts().hasAppArmor),
  );

/** The operating system of the agent, which is built for no other. */
const OS = 'linux';
const OS_LABEL = 'kubernetes.io/os';

/** Checks the label of the pod, as the kubelet does; the node selector is checked apart. */
const osRejection = ({ metadata, spec }: Pod): Rejection | undefined => {
  if ((metadata.labels?.[OS_LABEL] ?? OS) !== OS) {
    return {
      reason: 'PodOSSelectorNodeLabelDoesNotMatch',
      message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
    };
  }
  if ((spec.os?.name ?? OS) === OS) return undefined;
  return { reason: 'PodOSNotSupported', message: "Failed to admit pod as the OS field doesn't match node OS" };
};

const supplementalGroupsRejection = (
  { spec }: Pod,
  { hasSupplementalGroupsPolicy }: AdmissionFacts,
): Rejection | undefined => {
  if (spec.securityContext?.supplementalGroupsPolicy !== 'Strict') return undefined;
  if (hasSupplementalGroupsPolicy !== false) return undefined;
  return {
    reason: 'SupplementalGroupsPolicyNotSupported',
    message: 'SupplementalGroupsPolicy=Strict is not supported in this node',
  };
};

const placeRejection = (pod: Pod, active: readonly Pod[], node: AdmissionFacts): Rejection | undefined => {
  // A pod that was admitted before is not rejected for labels that may have changed since.
  const wasLetIn = node.isProvisional === true && pod.status?.startTime !== undefined;
  if (!wasLetIn && !selectsNode(pod.spec, node))
    return predicate('NodeAffinity', "node(s) didn't match Pod's node affinity/selector");
  const { nodeName } = pod.spec;
  if (nodeName && node.name !== undefined && nodeName !== node.name) {
    return predicate('NodeName', "node(s) didn't match the requested node name");
  }
  const taken = takenPort(pod, active);
  if (taken) {
    return {
      ...predicate('NodePorts', "node(s) didn't have free ports for the requested pod ports"),
      detail: `${podFullName(taken.holder)} has port ${taken.port}/${taken.protocol}`,
    };
  }
  // A user who can put a manifest on the node may run its pod there.
  if (isStaticPod(pod) || wasLetIn || toleratesTaints(pod.spec, node.taints ?? [])) return undefined;
  return predicate('TaintToleration', "node(s) had taints that the pod didn't tolerate");
};

const predicate = (reason: string, text: string): Rejection => ({
  reason,
  message: `Predicate ${reason} failed: ${text}`,
});
