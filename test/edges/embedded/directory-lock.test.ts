import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { lockFile, whenLost } from '../../../src/runtime/embedded/state/directory-lock.js';
import { lockState } from '../../../src/runtime/embedded/state/state-lock.js';
import { killProcess } from '../../support/kill-process.js';
import { isRoot } from './runtime-under-test.js';

let directory = '';
let path = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'lock-'));
  path = join(directory, 'the.lock');
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

it('lets one in, names it to others, and lets another one in once that has left', () => {
  const lock = lockState(directory);
  for (let tries = 0; tries < 3; tries += 1)
    expect(() => lockState(directory)).toThrow(`another runtime (process ${process.pid}) already uses ${directory}`);
  lock.release();
  lock.release();
  const next = lockState(directory);
  next.release();
});

it('ends with a process that is killed, although what that has started lives on', async () => {
  // What holds the lock is the descriptor of the process; Node passes on only those that it was asked to.
  const script = `
    const { lockFile } = await import(${JSON.stringify(new URL('../../../src/runtime/embedded/state/directory-lock.ts', import.meta.url).href)});
    const { spawn } = await import('node:child_process');
    lockFile(${JSON.stringify(path)});
    console.log(spawn('sleep', ['60'], { detached: true, stdio: 'ignore' }).pid);
    setInterval(() => undefined, 1000);`;
  const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'exit');
  const said = once(createInterface(child.stdout), 'line') as Promise<[string]>;
  const [line] = await Promise.race([said, ended.then((how) => [`the process has ended: ${how.join(' ')}`] as const)]);
  expect(line).toMatch(/^\d+$/);
  try {
    expect(() => lockFile(path)).toThrow(`process ${child.pid} uses ${directory}`);
    child.kill('SIGKILL');
    await ended;
    lockFile(path).release();
  } finally {
    killProcess(Number(line));
  }
});

it('does not believe the pid of an earlier owner', async () => {
  writeFileSync(path, JSON.stringify({ pid: process.pid, startTime: '1' }), { mode: 0o600 });
  const other = spawn('flock', ['-n', '--no-fork', path, 'sh', '-c', 'echo locked; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void other.kill('SIGKILL'));
  await once(other.stdout, 'data');
  expect(() => lockFile(path)).toThrow(`process unknown uses ${directory}`);
});

it('needs no room on the disk to be had', () => {
  const lock = lockFile('/dev/full');
  try {
    expect(() => lockFile('/dev/full')).toThrow('process unknown uses /dev');
  } finally {
    lock.release();
  }
});

it('says what is missing', () => {
  expect(() => lockFile(path, 'no-such-flock')).toThrow(
    `${directory} cannot be locked: flock(1) is missing, install util-linux`,
  );
  const odd = join(directory, 'odd-flock');
  writeFileSync(odd, '#!/bin/sh\necho "no locks available" >&2\nexit 1\n', { mode: 0o755 });
  expect(() => lockFile(path, odd)).toThrow(`${path} cannot be locked: no locks available`);
  expect(() => lockFile(join(directory, 'no/such/folder'))).toThrow(
    `ENOENT: no such file or directory, open '${directory}`,
  );
});

it('is no name that another process can take', async () => {
  const name = createHash('sha256').update(directory).digest('hex').slice(0, 32);
  const thief = createServer().listen(`\0rx-embedded-${name}`);
  await once(thief, 'listening');
  lockState(directory).release();
  thief.close();
});

it.runIf(isRoot)('cannot be taken by another user', () => {
  chmodSync(directory, 0o755);
  const lock = lockFile(path);
  lock.release();
  expect(statSync(path).mode & 0o777).toBe(0o600);
  const thief = spawnSync('flock', ['-n', path, 'true'], { uid: 65534, gid: 65534, encoding: 'utf8' });
  expect(thief.stderr).toContain('Permission denied');
});

describe('a lock whose file goes', () => {
  const cases: readonly (readonly [string, boolean, () => void])[] = [
    ['is lost when the directory is removed', true, () => rmSync(directory, { recursive: true })],
    ['is lost when the file is removed', true, () => rmSync(path)],
    [
      'is lost when another file takes its place',
      true,
      () => {
        writeFileSync(`${path}.new`, '');
        renameSync(`${path}.new`, path);
      },
    ],
    [
      'is lost when another directory takes the place of its own',
      true,
      () => {
        renameSync(directory, `${directory}.old`);
        mkdirSync(directory);
        writeFileSync(path, '');
        rmSync(`${directory}.old`, { recursive: true });
      },
    ],
    [
      'is kept when the directory is moved away and back',
      false,
      () => {
        renameSync(directory, `${directory}.old`);
        expect(lostNow()).toBe(false);
        renameSync(`${directory}.old`, directory);
      },
    ],
  ];
  let lostNow = (): boolean => false;

  it.each(cases)('%s', async (_, isLost, act) => {
    const lock = lockFile(path);
    lostNow = lock.isLost;
    let said = 0;
    let tell = (): void => undefined;
    const told = new Promise<void>((resolve) => (tell = resolve));
    const stop = whenLost(lock, path, () => {
      said += 1;
      tell();
    });
    expect(lock.isLost()).toBe(false);
    act();
    expect(lock.isLost()).toBe(isLost);
    if (isLost) {
      await told;
      // Its place can be taken at once, by a process that finds no file or another one.
      mkdirSync(directory, { recursive: true });
      lockFile(path).release();
    }
    stop();
    expect(said).toBe(isLost ? 1 : 0);
    lock.release();
    expect(lock.isLost()).toBe(false);
  });
});
