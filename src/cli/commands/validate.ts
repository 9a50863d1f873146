import { formatManifestProblem } from '../../model/manifest/manifest-problem.js';
import { withoutDuplicates } from '../../model/manifest/duplicate-manifests.js';
import type { SourceObject } from '../../model/references/source-object.js';
import { alphaGatesOn } from '../config/fields/feature-gates.js';
import { type ReadFile, readManifests } from '../arguments/read-manifests.js';

export interface ValidateOptions {
  readonly output: 'text' | 'json';
  /** For nodes with an API server, whose manifests neither hold nor name objects. */
  readonly cluster?: boolean;
  /** The feature gates of the node; others have their defaults. */
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

/**
 * Prints every problem of the manifests as `file:line:column: field: message`, and sets exit code 1 if there is one;
 * then the warnings, which prevent no pod, each with the prefix `warning:`. The files of one folder are checked
 * together, as an agent reads them.
 */
export const validateManifests = async (
  paths: readonly string[],
  { output, cluster = false, featureGates = {} }: ValidateOptions,
): Promise<void> => {
  const rules = { hasApiServer: cluster, gates: alphaGatesOn(featureGates) };
  const readings = inFolders(await readManifests(paths, rules)).flatMap(withoutDuplicates);
  const problems = readings.flatMap(({ reading }) => reading.problems);
  const warnings = readings.flatMap(({ reading }) => reading.warnings);
  const podCount = readings.reduce((sum, { reading }) => sum + reading.pods.length, 0);
  const objects = readings.flatMap(({ reading }) => reading.objects.map(({ object }) => object));
  if (output === 'json') {
    const counts = { pods: podCount, ...countsOf(objects) };
    process.stdout.write(`${JSON.stringify({ ...counts, problems, warnings }, undefined, 2)}\n`);
  } else {
    for (const problem of problems) process.stdout.write(`${formatManifestProblem(problem)}\n`);
    for (const warning of warnings) process.stdout.write(`warning: ${formatManifestProblem(warning)}\n`);
    if (problems.length === 0) {
      const { configMaps, secrets } = countsOf(objects);
      const found = [
        counted(podCount, 'pod'),
        ...(configMaps > 0 ? [counted(configMaps, 'ConfigMap')] : []),
        ...(secrets > 0 ? [counted(secrets, 'Secret')] : []),
      ];
      process.stdout.write(`ok: ${listed(found)} in ${counted(readings.length, 'file')}\n`);
    }
  }
  if (problems.length > 0) process.exitCode = 1;
};

const countsOf = (objects: readonly SourceObject[]) => ({
  configMaps: objects.filter(({ kind }) => kind === 'ConfigMap').length,
  secrets: objects.filter(({ kind }) => kind === 'Secret').length,
});

const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? '' : 's'}`;

const listed = (texts: readonly string[]): string =>
  [texts.slice(0, -1).join(', '), texts.at(-1)].filter((text) => text !== '').join(' and ');

const inFolders = (files: readonly ReadFile[]): readonly (readonly ReadFile[])[] =>
  [...new Set(files.map(({ folder }) => folder))].map((folder) => files.filter((file) => file.folder === folder));
