import { type FieldIssue, issue } from './field-issue.js';
import type { Pod } from '../pod/pod.js';

/** Source: pkg/apis/scheduling/types.go SystemCriticalPriority, HighestUserDefinablePriority. */
const SYSTEM_CLASSES: Readonly<Record<string, number>> = {
  'system-cluster-critical': 2_000_000_000,
  'system-node-critical': 2_000_001_000,
};
const HIGHEST_OF_USERS = 1_000_000_000;

/**
 * Returns the priorities of a manifest's pod that do not mean what they seem to. The API server replaces the name of a class by its
 * priority; nothing does so for a manifest.
 *
 * Source: a kubelet 1.37 logs a warning for an invalid `priority` or `priorityClassName` of a static pod; the rules are those of
 * plugin/pkg/admission/priority/admission.go.
 */
export function* priorityWarnings({ spec: { priority, priorityClassName } }: Pick<Pod, 'spec'>): Generator<FieldIssue> {
  const at = ['spec', priorityClassName ? 'priorityClassName' : 'priority'];
  const ofClass =
    priorityClassName && Object.hasOwn(SYSTEM_CLASSES, priorityClassName) && SYSTEM_CLASSES[priorityClassName];
  if (ofClass) {
    if (priority === ofClass) return;
    const given =
      priority === undefined ? 'no class gives a pod of a manifest a priority' : `spec.priority is ${priority}`;
    yield { ...issue(at, `does not match: ${given}`, `spec.priority: ${ofClass}`), atKey: true };
  } else if (priorityClassName && priority === undefined) {
    const message = 'has no effect: no class gives a pod of a manifest a priority, so its priority is 0';
    yield { ...issue(at, message, 'spec.priority beside it'), atKey: true };
  } else if ((priority ?? 0) > HIGHEST_OF_USERS) {
    const message = `is above ${HIGHEST_OF_USERS}, which only the classes of the system are`;
    yield { ...issue(['spec', 'priority'], message, Object.keys(SYSTEM_CLASSES).join(' or ')), atKey: true };
  }
}
