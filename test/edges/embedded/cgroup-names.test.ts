import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Cgroup, probeCgroups } from '../../../src/runtime/embedded/confinement/cgroup.js';
import { osPath } from '../../../src/processes/byte-path.js';
import { eventually } from './runtime-under-test.js';

const layout = probeCgroups();

it.runIf(layout)('a cgroup of a container whose name is not UTF-8 is killed and removed with it', async () => {
  if (!layout) return;
  const home = `rx-embedded/names-${randomBytes(4).toString('hex')}`;
  const group = Cgroup.ofSandbox(layout, { parent: '', home }, 'sandbox');
  group.create();
  const directory = join(layout.tracking.mount, home, 'sandbox');
  const below = osPath(`${directory}/n\xff`);
  mkdirSync(below);
  const child = spawn('sleep', ['100000'], { stdio: 'ignore' });
  try {
    writeFileSync(osPath(`${directory}/n\xff/cgroup.procs`), String(child.pid));
    expect(group.pids()).toEqual([child.pid]);
    group.kill();
    await eventually('the process is over', () => child.signalCode === 'SIGKILL');
    await group.remove();
    expect([existsSync(below), existsSync(directory)]).toEqual([false, false]);
  } finally {
    child.kill('SIGKILL');
    await group.remove();
  }
});
