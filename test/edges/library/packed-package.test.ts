import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const TSC = join(ROOT, 'node_modules/tsc7/bin/tsc');
const LONGEST_MS = 600_000;

let folder = '';
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'packed-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Runs a command to its end. Errors: it fails; with its output. */
const run = (command: string, args: readonly string[], cwd: string): string => {
  try {
    return execFileSync(command, args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string };
    throw new Error(`${command} ${args.join(' ')} fails:\n${stdout}\n${stderr}`, { cause: error });
  }
};

/** The package as a registry would have it, made without touching the files of this checkout. */
const packed = (): string => {
  const stage = join(folder, 'stage');
  for (const name of readdirSync(ROOT))
    if (!['node_modules', 'src', 'test', 'bench', 'scripts'].includes(name) && !name.startsWith('.'))
      cpSync(join(ROOT, name), join(stage, name), { recursive: true });
  rmSync(join(stage, 'dist/lib'), { recursive: true, force: true });
  run(process.execPath, [TSC, '-p', 'tsconfig.lib.json', '--outDir', join(stage, 'dist/lib')], ROOT);
  const [file] = JSON.parse(run('npm', ['pack', '--ignore-scripts', '--json'], stage)) as [
    { readonly filename: string },
  ];
  return join(stage, file.filename);
};

it(
  'the examples compile against the packed package in an empty strict project that checks its libraries',
  () => {
    const tarball = packed();
    const project = join(folder, 'project');
    for (const name of ['library', 'sources'])
      cpSync(join(ROOT, 'examples', name), join(project, name), { recursive: true });
    writeFileSync(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
    const compilerOptions = {
      ...{ strict: true, skipLibCheck: false, noEmit: true, types: ['node'] },
      ...{ target: 'ES2023', lib: ['ES2023'], module: 'NodeNext', moduleResolution: 'NodeNext' },
    };
    writeFileSync(join(project, 'tsconfig.json'), JSON.stringify({ compilerOptions }));
    // A connection without an answer is given up after twenty seconds, not after the five minutes of npm.
    const patience = ['--fetch-timeout=20000', '--fetch-retries=5'];
    const quiet = ['--prefer-offline', '--ignore-scripts', '--no-audit', '--no-fund'];
    run('npm', ['install', ...quiet, ...patience, tarball], project);
    expect(run(process.execPath, [TSC, '-p', project], project)).toBe('');

    const script = `
      const { simulatedNode } = await import('rx-kubelet/sim');
      const { marbles, inTurn, expectLanes } = await import('rx-kubelet/marbles');
      const { kubelet } = await import('rx-kubelet');
      const { fileSource } = await import('rx-kubelet/node');
      console.log([simulatedNode, marbles, inTurn, expectLanes, kubelet, fileSource].map((one) => typeof one).join());`;
    expect(run(process.execPath, ['--input-type=module', '-e', script], project)).toBe(
      'function,function,function,function,function,function\n',
    );
  },
  LONGEST_MS,
);
