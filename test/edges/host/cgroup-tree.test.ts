import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { killBelow, removeTree, writeSettings } from '../../../src/host/cgroups/cgroup-tree.js';

describe('settings of a cgroup', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rx-cgroup-tree-'));
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  it('are written where the file has something else, and left alone where it says so already', async () => {
    const before = new Date('2001-01-01T00:00:00Z');
    for (const file of ['cpu.shares', 'pids.max']) {
      writeFileSync(join(directory, file), '512\n');
      utimesSync(join(directory, file), before, before);
    }
    const settings = [
      { directory, file: 'cpu.shares', value: '512' },
      { directory, file: 'pids.max', value: '100' },
    ];
    expect(await writeSettings(settings)).toEqual([]);
    expect(statSync(join(directory, 'cpu.shares')).mtime).toEqual(before);
    expect(readFileSync(join(directory, 'pids.max'), 'utf8')).toBe('100\n');
    expect(statSync(join(directory, 'pids.max')).mtime).not.toEqual(before);
  });

  it('that have no file are reported, and none is made', async () => {
    const path = join(directory, 'memory.limit_in_bytes');
    expect(await writeSettings([{ directory, file: 'memory.limit_in_bytes', value: '1' }])).toEqual([
      expect.stringMatching(new RegExp(`^${path}: 1 was refused: ENOENT`)) as string,
    ]);
    expect(() => statSync(path)).toThrow('ENOENT');
  });
});

describe('cgroups of a container whose names are not UTF-8', () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'rx-cgroup-names-'));
    mkdirSync(Buffer.from(`${directory}/n\xff`, 'latin1'));
  });
  afterEach(() => rmSync(directory, { recursive: true, force: true }));

  it('a cgroup whose name is not UTF-8 is killed with the cgroup above it', async () => {
    const child = spawn('sleep', ['100000'], { stdio: 'ignore' });
    const exit = once(child, 'exit');
    writeFileSync(join(directory, 'cgroup.procs'), '');
    writeFileSync(Buffer.from(`${directory}/n\xff/cgroup.procs`, 'latin1'), `${child.pid}\n`);
    try {
      await killBelow([directory]);
      // The end of a process that was left alone.
      child.kill('SIGTERM');
      expect(await exit).toEqual([null, 'SIGKILL']);
    } finally {
      child.kill('SIGKILL');
    }
  });

  it('a cgroup whose name is not UTF-8 is removed with the cgroup above it', async () => {
    await removeTree(directory);
    expect(existsSync(directory)).toBe(false);
  });
});
