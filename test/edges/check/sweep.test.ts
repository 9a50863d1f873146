import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  isAlive,
  type ProcessId,
  processId,
  signalProcess,
} from '../../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../../embedded/eventually.js';

const SWEEP = fileURLToPath(new URL('../../../.ci/sweep', import.meta.url));
const started: ProcessId[] = [];
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rxci-'));
  mkdirSync(join(folder, 'below'));
});
afterEach(() => {
  for (const process of started.splice(0)) signalProcess(process, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

/** A shell that leads a session of its own. What it starts must end with it, or be named in `started`. */
const begin = async (script: string, options: { readonly cwd?: string; readonly env?: object }): Promise<ProcessId> => {
  const env = { PATH: process.env.PATH, ...options.env };
  const { pid = 0 } = spawn('sh', ['-c', script], { cwd: '/', stdio: 'ignore', detached: true, ...options, env });
  const shell = processId(pid);
  if (!shell) throw new Error('the shell has ended');
  started.push(shell);
  return shell;
};
const sweep = (): string => {
  const { stdout, stderr, status } = spawnSync(SWEEP, [folder], { encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
  return stdout;
};
const startOf = (pid: number): string => processId(pid)?.startTime ?? 'none';

describe('the sweep after a check that was killed', () => {
  it('leaves a run alone that goes on', async () => {
    const inside = await begin('exec sleep 1000', { cwd: join(folder, 'below') });
    writeFileSync(join(folder, 'owner'), `${inside.pid} ${startOf(inside.pid)}\n`);
    expect(sweep()).toBe(`${folder} belongs to a run that goes on\n`);
    expect([isAlive(inside), existsSync(folder)]).toEqual([true, true]);
  });

  it('ends processes that are in the folder, name it, put their files there, or have such a leader; and nothing else', async () => {
    // The number of the owner has been given to another process.
    writeFileSync(join(folder, 'owner'), `${process.pid} 1\n`);
    const other = await begin('exec sleep 1000', {});
    const child = join(folder, 'child');
    const ours = [
      await begin('exec sleep 1000', { cwd: join(folder, 'below') }),
      await begin(`exec perl -e 'sleep 1000' ${folder}/below`, {}),
      await begin(`env -i PATH="$PATH" sleep 1000 & echo $! >${child}.new; mv ${child}.new ${child}; wait`, {
        env: { TMPDIR: folder },
      }),
    ];
    await eventually('the child is known', () => existsSync(child));
    const orphan = processId(Number(readFileSync(child, 'utf8')));
    if (!orphan) throw new Error('the child has ended');
    started.push(orphan);

    const said = sweep();
    for (const { pid } of [...ours, orphan]) expect(said).toContain(`a process: ${pid} `);
    expect([...ours, orphan].filter(isAlive)).toEqual([]);
    expect([isAlive(other), existsSync(folder)]).toEqual([true, false]);
  });

  it('takes no folder that is not of a check', () => {
    const { status, stderr } = spawnSync(SWEEP, [join(folder, 'below')], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, `usage: ${SWEEP} /…/rxci-N\n`]);
  });
});
