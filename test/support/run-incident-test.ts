import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Change, changedBundle } from './changed-bundle.js';
import { sourceBundle } from './source-bundle.js';

const root = fileURLToPath(new URL('../..', import.meta.url));

export interface IncidentTestRun {
  readonly passed: number;
  /** The title and the failure of each test that did not pass. */
  readonly failed: readonly string[];
}

/**
 * Runs a test that was made of a recording with vitest, over the simulation in one file, of sources in which one text may stand for
 * another.
 */
export const runIncidentTest = async (text: string, change?: Change): Promise<IncidentTestRun> => {
  const folder = mkdtempSync(join(tmpdir(), 'incident-'));
  try {
    return await runIn(folder, text, change);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const runIn = async (folder: string, text: string, change: Change | undefined): Promise<IncidentTestRun> => {
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const simulation = change
    ? await changedBundle(folder, change, 'src/sim.ts')
    : await sourceBundle(folder, 'src/sim.ts');
  writeFileSync(join(folder, 'incident.test.ts'), text);
  writeFileSync(
    join(folder, 'vitest.config.mjs'),
    `export default {
  resolve: { alias: { 'rx-kubelet/sim': ${JSON.stringify(simulation)} } },
  test: { include: ['incident.test.ts'], testTimeout: 240_000, hookTimeout: 240_000 },
};
`,
  );
  const command = [join(root, 'node_modules/vitest/vitest.mjs'), 'run', '--root', folder, '--reporter', 'json'];
  const report = await new Promise<string>((resolve, reject) =>
    execFile(process.execPath, command, { cwd: folder, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      stdout.startsWith('{') ? resolve(stdout) : reject(new Error(`${stdout}\n${stderr}`, { cause: error })),
    ),
  );
  const { testResults } = JSON.parse(report) as {
    readonly testResults: readonly {
      readonly assertionResults: readonly { status: string; title: string; failureMessages: string[] }[];
    }[];
  };
  const results = testResults.flatMap(({ assertionResults }) => assertionResults);
  return {
    passed: results.filter(({ status }) => status === 'passed').length,
    failed: results
      .filter(({ status }) => status !== 'passed')
      .map(({ title, failureMessages }) => [title, ...failureMessages].join('\n')),
  };
};
