import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { inSlices } from '../../../src/host/stats/in-slices.js';
import { openFiles } from '../../../src/host/stats/open-files.js';
import { eventually } from '../../embedded/eventually.js';

it('counts what a real process has open, and reads its limit', async () => {
  // What it has from its parents is in both counts. A pipe of Node is a socket.
  const opens = 'exec 8</dev/null 9</dev/null </dev/null; exec sleep 1000';
  const child = spawn('/bin/sh', ['-c', `exec 8<&- 9<&-; ulimit -Sn 77; read -r line; ${opens}`], {
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  try {
    await once(child, 'spawn');
    const pid = child.pid ?? 0;
    expect(pid).toBeGreaterThan(0);
    const look = () => openFiles('/proc', [pid], inSlices());
    const before = await eventually('it has its limit', async () => {
      const seen = await look();
      return seen?.softLimit === 77 && seen;
    });
    expect(before.sockets).toBeGreaterThan(0);
    child.stdin.end('\n');
    await expect.poll(look, { timeout: 90_000 }).toEqual({
      ...{ descriptors: before.descriptors + 2, sockets: before.sockets - 1, softLimit: 77 },
    });
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
});

it('adds the processes, leaves out those that have ended, and lets other work have its turn', async () => {
  const proc = mkdtempSync(join(tmpdir(), 'open-files-'));
  try {
    for (const [pid, links] of [
      ['1', ['socket:[5]', 'pipe:[6]']],
      ['2', Array.from({ length: 250 }, (_, index) => `socket:[${index}]`)],
    ] as const) {
      mkdirSync(join(proc, pid, 'fd'), { recursive: true });
      for (const [index, link] of links.entries()) symlinkSync(link, join(proc, pid, 'fd', String(index)));
    }
    writeFileSync(join(proc, '1', 'limits'), 'Max open files            9   10   files\n');
    let pauses = 0;
    const pause = async () => void (pauses += 1);
    expect(await openFiles(proc, [1, 2, 3], pause)).toEqual({ descriptors: 252, sockets: 251, softLimit: 9 });
    // Two in the second process, and one after each.
    expect(pauses).toBe(4);
    expect(await openFiles(proc, [3], pause)).toBeUndefined();
    expect(await openFiles(proc, [], pause)).toBeUndefined();
  } finally {
    rmSync(proc, { recursive: true });
  }
});

it('lists the descriptors of a process in slices, too: what is closed between two of them does not count', async () => {
  const proc = mkdtempSync(join(tmpdir(), 'open-files-'));
  try {
    const directory = join(proc, '1', 'fd');
    mkdirSync(directory, { recursive: true });
    // More than the C library reads ahead.
    for (let index = 0; index < 5_000; index += 1) symlinkSync('socket:[5]', join(directory, String(index)));
    let pauses = 0;
    const pause = async () => {
      pauses += 1;
      if (pauses === 1) for (const name of readdirSync(directory)) rmSync(join(directory, name));
    };
    expect((await openFiles(proc, [1], pause))?.descriptors).toBeLessThan(5_000);
  } finally {
    rmSync(proc, { recursive: true });
  }
});
