import type { ManifestProblem } from './manifest-problem.js';
import type { ManifestObject } from './object-manifest.js';
import type { ManifestReading } from './parse-manifest.js';
import type { ManifestPod } from './pod-manifest.js';
import { sourceObjectKey } from '../references/source-object.js';

export interface FileReading {
  readonly file: string;
  readonly reading: ManifestReading;
}

/**
 * Returns the readings of the files of one folder as an agent uses them: of pods with the same name or UID, and of
 * objects with the same name, the first one is used, by the names of the files and then by the position in the text. Each other one is a problem.
 */
export const withoutDuplicates = (files: readonly FileReading[]): readonly FileReading[] => {
  const owners = new Map<string, ManifestProblem>();
  return files
    .toSorted((one, other) => (one.file < other.file ? -1 : 1))
    .map(({ file, reading }) => {
      const pods: ManifestPod[] = [];
      const problems = [...reading.problems];
      for (const found of reading.pods) {
        const { name, namespace, uid } = found.pod.metadata;
        const keys = [
          { key: `name ${namespace || 'default'}/${name}`, field: 'name' },
          ...(uid ? [{ key: `uid ${uid}`, field: 'uid' }] : []),
        ];
        const { document, line, column } = found;
        const taken = keys.find(({ key }) => owners.has(key));
        const place = { file, document, line, column, field: `metadata.${taken?.field ?? 'name'}`, message: '' };
        if (!taken) {
          pods.push(found);
          for (const { key } of keys) owners.set(key, place);
          continue;
        }
        const winner = owners.get(taken.key)!;
        const message = `is also the one of the pod at ${winner.file}:${winner.line}, which comes first: this pod is ignored`;
        problems.push({ ...place, message, expected: `a ${taken.field} of its own` });
      }
      const objects: ManifestObject[] = [];
      for (const found of reading.objects) {
        const { document, line, column } = found;
        const key = sourceObjectKey(found.object);
        const winner = owners.get(key);
        const place = { file, document, line, column, field: 'metadata.name', message: '' };
        if (!winner) {
          objects.push(found);
          owners.set(key, place);
          continue;
        }
        const { kind } = found.object;
        const message = `is also the one of the ${kind} at ${winner.file}:${winner.line}, which comes first: this ${kind} is ignored`;
        problems.push({ ...place, message, expected: 'a name of its own' });
      }
      return { file, reading: { ...reading, pods, objects, problems } };
    });
};
