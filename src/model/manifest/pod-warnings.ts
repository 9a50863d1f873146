import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import type { PodManifest } from './pod-manifest.js';
import { containersWithPaths } from './static-pod-restrictions.js';

/** What the API accepts in a pod although it does not do what it says. */
export const podWarnings = ({ spec }: PodManifest, path: FieldPath): readonly FieldIssue[] =>
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
