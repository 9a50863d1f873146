import { type FileKeyRef, fileKeyRefs } from '../../../model/cri/env-files.js';
import type { Container } from '../../../model/pod/pod.js';
import { containersIn, type NamedPod } from './scenario-mismatches.js';

/**
 * Returns the env files that containers of these pods read, by `pod/container` of the first container that can write them, as texts
 * by path in that container. Each key has its name as value.
 */
export const assumedEnvFiles = (pods: readonly NamedPod[]): ReadonlyMap<string, Readonly<Record<string, string>>> => {
  const files = new Map<string, Record<string, string>>();
  for (const pod of pods) {
    const containers = containersIn([pod]).map(({ container }) => container);
    for (const reference of containers.flatMap(fileKeyRefs)) {
      const writer = containers.find((container) => mountPathOf(container, reference) !== undefined);
      if (!writer) continue;
      const name = `${pod.name}/${writer.name}`;
      const path = `${mountPathOf(writer, reference)}/${reference.path}`;
      const before = files.get(name) ?? {};
      files.set(name, { ...before, [path]: `${before[path] ?? ''}${reference.key}='${reference.key}'\n` });
    }
  }
  return files;
};

/** The place of the volume in the container; undefined if it cannot write there. */
const mountPathOf = ({ volumeMounts = [] }: Container, { volumeName }: FileKeyRef): string | undefined =>
  volumeMounts.find(
    ({ name, readOnly, subPath, subPathExpr }) => name === volumeName && !readOnly && !subPath && !subPathExpr,
  )?.mountPath;
