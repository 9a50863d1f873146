import { Counter, type Registry } from 'prom-client';
import type { Metrics } from '../../streams/ports/metrics.js';

/** The reasons that are labels of their own. Source: pkg/kubelet/kubelet.go admissionRejectionReasons */
const REASONS: ReadonlySet<string> = new Set([
  ...['AppArmor', 'SysctlForbidden', 'PodOSSelectorNodeLabelDoesNotMatch', 'PodOSNotSupported'],
  ...['SupplementalGroupsPolicyNotSupported', 'OutOfcpu', 'OutOfmemory', 'OutOfephemeral-storage', 'OutOfpods'],
  ...['Evicted', 'NodeShutdown', 'UnexpectedAdmissionError'],
]);

/** The reason, unless there may be any number of them: names of resources, and those that upstream does not list. */
const labelOf = (reason: string): string => {
  if (REASONS.has(reason)) return reason;
  return reason.startsWith('OutOf') ? 'OutOfExtendedResources' : 'Other';
};

/** Source: pkg/kubelet/kubelet.go recordAdmissionRejection */
export const admissionMetrics = (registry: Registry): Pick<Metrics, 'admissionRejected'> => {
  const rejections = new Counter({
    name: 'kubelet_admission_rejections_total',
    help: 'Pods that were not admitted.',
    labelNames: ['reason'],
    registers: [registry],
  });
  return { admissionRejected: (reason) => rejections.inc({ reason: labelOf(reason) }) };
};
