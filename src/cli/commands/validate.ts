import { formatManifestProblem } from '../../model/manifest/manifest-problem.js';
import { readManifests } from '../read-manifests.js';

export interface ValidateOptions {
  readonly output: 'text' | 'json';
}

/**
 * Prints every problem of the manifests as `file:line:column: field: message`, and sets exit code 1 when there is one; then, with
 * `warning:` before them, what keeps no pod away but will not work. A
 * directory stands for the files in it whose names do not begin with a dot, `-` for standard input.
 *
 * Errors: a file that cannot be read.
 */
export const validateManifests = async (paths: readonly string[], { output }: ValidateOptions): Promise<void> => {
  const readings = await readManifests(paths);
  const problems = readings.flatMap(({ reading }) => reading.problems);
  const warnings = readings.flatMap(({ reading }) => reading.warnings);
  const podCount = readings.reduce((sum, { reading }) => sum + reading.pods.length, 0);
  if (output === 'json')
    process.stdout.write(`${JSON.stringify({ pods: podCount, problems, warnings }, undefined, 2)}\n`);
  else {
    for (const problem of problems) process.stdout.write(`${formatManifestProblem(problem)}\n`);
    for (const warning of warnings) process.stdout.write(`warning: ${formatManifestProblem(warning)}\n`);
    const pods = `${podCount} ${podCount === 1 ? 'pod' : 'pods'} in ${readings.length} ${readings.length === 1 ? 'file' : 'files'}`;
    if (problems.length === 0) process.stdout.write(`ok: ${pods}\n`);
  }
  if (problems.length > 0) process.exitCode = 1;
};
