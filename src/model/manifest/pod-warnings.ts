import { effectlessFields } from './effectless-fields.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { priorityWarnings } from './priority-warnings.js';
import type { PodManifest } from './pod-manifest.js';
import { containersWithPaths } from './static-pod-restrictions.js';

/** Fields of a pod that are accepted, but do not do what they seem to. */
export const podWarnings = (pod: PodManifest, path: FieldPath): readonly FieldIssue[] => [
  ...failingHooks(pod, path),
  ...[...effectlessFields(pod), ...priorityWarnings(pod)].map((found) => ({
    ...found,
    path: [...path, ...found.path],
  })),
];

const failingHooks = ({ spec }: PodManifest, path: FieldPath): readonly FieldIssue[] =>
  containersWithPaths(spec).flatMap(({ at, container }) =>
    (['postStart', 'preStop'] as const)
      .filter((when) => container.lifecycle?.[when]?.tcpSocket)
      .map((when) => {
        const field = [...path, 'spec', ...at, 'lifecycle', when, 'tcpSocket'];
        // Source: pkg/kubelet/lifecycle/handlers.go Run
        return { ...issue(field, 'is not run by any kubelet: the hook always fails', HOOKS), atKey: true };
      }),
  );

const HOOKS = 'exec, httpGet or sleep';
