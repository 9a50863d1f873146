import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildSync } from 'esbuild';
import type { FileOperation } from './file-operation.js';
import { ALL_LOST, CONTENT_LOST, drawnLosses, FragileDisk, NOTHING_LOST } from './fragile-disk.js';
import { fileOperations, tracing } from './traced-operations.js';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const DRAWS = 6;

export const canTrace = spawnSync('strace', ['--version']).status === 0;

export interface PowerLoss {
  /** The directory of the program after the next boot. */
  readonly directory: string;
  /** The lines that the program had written to its file `done`. */
  readonly done: readonly string[];
  /** For messages. */
  readonly text: string;
}

/**
 * Runs a program in TypeScript with imports from the root of the project, and calls `boot` with its files after a loss of power at each moment. The
 * directory of the program is in its variable DIR.
 */
export const atEachLoss = async (
  program: string,
  between: (low: number, high: number) => number,
  boot: (loss: PowerLoss) => void | Promise<void>,
): Promise<number> => {
  const base = mkdtempSync(join(tmpdir(), 'rx-power-'));
  try {
    const directory = join(base, 'disk');
    mkdirSync(directory);
    const operations = operationsOf(program, base, directory);
    let count = 0;
    for (let moment = 0; moment <= operations.length; moment += 1) {
      const drawn = Array.from({ length: DRAWS }, () => drawnLosses(between));
      for (const losses of [ALL_LOST, CONTENT_LOST, NOTHING_LOST, ...drawn]) {
        const disk = new FragileDisk(base);
        disk.apply({ kind: 'mkdir', path: directory, mode: 0o755 });
        for (const operation of operations.slice(0, moment)) disk.apply(operation);
        rmSync(directory, { recursive: true, force: true });
        disk.leave(directory, losses, (content) => content);
        const done = (disk.text(join(base, 'done')) ?? '').split('\n').slice(0, -1);
        const last = operations[moment - 1];
        await boot({
          directory,
          done,
          text: `after ${JSON.stringify(last)?.slice(0, 200)}, ${operations.length} in all`,
        });
        count += 1;
      }
    }
    return count;
  } finally {
    rmSync(base, { recursive: true, force: true });
  }
};

const operationsOf = (program: string, base: string, directory: string): readonly FileOperation[] => {
  const [bundle, trace] = [join(base, 'program.mjs'), join(base, 'trace')];
  buildSync({
    stdin: { contents: program, resolveDir: ROOT, loader: 'ts' },
    outfile: bundle,
    bundle: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    banner: { js: "import{createRequire as r}from'node:module';const require=r(import.meta.url);" },
  });
  const [strace = '', ...args] = [...tracing(trace), process.execPath, bundle];
  const { status, stderr } = spawnSync(strace, args, {
    encoding: 'utf8',
    env: { PATH: process.env.PATH, DIR: directory, DONE: join(dirname(directory), 'done'), UV_USE_IO_URING: '0' },
  });
  if (status !== 0) throw new Error(`the program has failed: ${stderr}`);
  return fileOperations(readFileSync(trace, 'latin1'), base);
};
