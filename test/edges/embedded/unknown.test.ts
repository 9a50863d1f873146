import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import {
  Cgroup,
  layoutWith,
  sweepProbes,
  type CgroupLayout,
} from '../../../src/runtime/embedded/confinement/cgroup.js';
import { killAll } from '../../../src/runtime/embedded/confinement/confinement.js';
import { claimOf, forbidStart, ioFiles, wasNeverBegun } from '../../../src/runtime/embedded/launch/launcher.js';
import { LogWriter } from '../../../src/runtime/embedded/containers/log-writer.js';
import { injectFaults, isThere, startProcess, isShortageText } from '../../../src/runtime/embedded/machine/machine.js';
import { bootId, isAlive, markedProcesses, processId } from '../../../src/runtime/embedded/confinement/process-tree.js';
import { claimSocket } from '../../../src/runtime/embedded/machine/socket.js';
import { StateStore } from '../../../src/runtime/embedded/state/state-store.js';
import { planUser } from '../../../src/runtime/embedded/launch/users.js';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const UNKNOWN = ['EMFILE', 'ENFILE', 'ENOMEM', 'EIO', 'EAGAIN'] as const;

/** Every access to a path that contains `part` fails, this number of times. */
const failing = (part: string, code: string, times = Number.POSITIVE_INFINITY): void => {
  let left = times;
  injectFaults((_access, operation, target) => {
    if (!target.includes(part) || left === 0) return;
    left -= 1;
    throw Object.assign(new Error(`${code}: injected, ${operation}`), { code });
  });
};

let directory: string;
const at = (...names: string[]): string => join(directory, ...names);
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'rx-unknown-'));
});
afterEach(() => {
  injectFaults(null);
  vi.useRealTimers();
  rmSync(directory, { recursive: true, force: true });
});

describe('a start that fails while mounts are made', () => {
  it.each([
    ["the container's own / could not be made: sh: 1: Cannot fork", true],
    ['a mount could not be made: mount: /data: mount(2) system call failed: Cannot allocate memory.', true],
    ['a mount could not be made: mount: /data: special device /gone does not exist.', false],
    ['exec: "cannot fork": executable file not found in $PATH', false],
  ])('can be repeated if the machine was short: %s', (why, isShort) => {
    writeFileSync(ioFiles(directory).startError, why);
    expect(wasNeverBegun(directory)).toBe(isShort);
  });
});

describe.each(UNKNOWN)('%s', (code) => {
  it('is not the end of a process', () => {
    const self = processId(process.pid)!;
    failing('/proc/', code);
    expect(() => isAlive(self)).toThrow(code);
    expect(() => processId(process.pid)).toThrow(code);
    expect(() => markedProcesses('1')).toThrow(code);
    injectFaults(null);
    expect(isAlive(self)).toBe(true);
    expect(isAlive({ ...self, startTime: '1' })).toBe(false);
    expect(isAlive({ pid: 2 ** 22 + 1, startTime: '1' })).toBe(false);
  });

  it('is not another boot', () => {
    const boot = bootId();
    failing('boot_id', code);
    expect(bootId()).toBe(boot);
  });

  it('is not an empty group, and what is in it is killed once that is known', async () => {
    const [cgroup] = groups();
    failing('cgroup.procs', code);
    expect(() => cgroup.pids()).toThrow(code);
    let kills = 0;
    failing('cgroup.procs', code, 2);
    await killAll({
      joinScript: ':',
      pids: () => cgroup.pids(),
      kill: () => {
        kills += 1;
        writeFileSync(at('mount', 'home', 'pod', 'main', 'cgroup.procs'), '');
      },
      remove: () => Promise.resolve(),
    });
    expect(kills).toBe(1);
  });

  it('is not a start without a claim, and forbids none', () => {
    const io = ioFiles(at('io'));
    mkdirSync(io.directory);
    failing('supervisor', code);
    expect(() => claimOf(io.directory)).toThrow(code);
    expect(() => forbidStart(io.directory)).toThrow(code);
    injectFaults(null);
    expect(forbidStart(io.directory)).toBe(true);
    expect(forbidStart(io.directory)).toBe(false);
    expect(claimOf(io.directory)).toBe('forbidden');
  });

  it('is not a socket without a server', async () => {
    const socket = at('rt.sock');
    const server = createServer((connection) => connection.destroy()).listen(socket);
    await new Promise((resolve) => server.once('listening', resolve));
    failing(socket, code, 1);
    await expect(claimSocket(socket)).rejects.toThrow(code);
    expect(existsSync(socket)).toBe(true);
    await expect(claimSocket(socket)).rejects.toThrow('another runtime already serves');
    await new Promise((resolve) => server.close(resolve));
    await claimSocket(socket);
    expect(existsSync(socket)).toBe(false);
  });

  it('is not a user without groups', () => {
    const can = { canChange: true, canForbidPrivileges: true, canDropCapabilities: true };
    const runtime = { uid: 0, gid: 0, groups: [], ...can };
    const context = { runAsUser: { value: 12n } } as Parameters<typeof planUser>[0];
    failing('/etc/passwd', code);
    expect(() => planUser(context, runtime)).toThrow(code);
  });

  it('is not a mount point that does not exist', () => {
    failing(directory, code);
    expect(() => isThere(directory)).toThrow(code);
    injectFaults(null);
    expect([isThere(directory), isThere(at('none')), isThere(at('none', 'none'))]).toEqual([true, false, false]);
  });

  it('of a checkpoint writes no line of a log twice', async () => {
    for (const stream of ['stdout', 'stderr']) writeFileSync(at(stream), '');
    const writer = (): LogWriter =>
      new LogWriter({
        rawDirectory: directory,
        checkpointPath: at('checkpoint'),
        logPath: at('0.log'),
        fallocate: undefined,
        log: silent,
      });
    appendFileSync(at('stdout'), 'one\n');
    const first = writer();
    await first.settled();
    first.close();
    failing('checkpoint', code);
    const second = writer();
    expect(() => second.open()).toThrow(code);
    injectFaults(null);
    appendFileSync(at('stdout'), 'two\n');
    await second.finish();
    const lines = readFileSync(at('0.log'), 'utf8').split('\n').slice(0, -1);
    expect(lines.map((line) => line.replace(/^\S+ /, ''))).toEqual(['stdout F one', 'stdout F two']);
  });
});

describe('a store of records', () => {
  const store = () => new StateStore<{ id: string; n?: number }>(at('things'), 'thing.json', silent, () => false);
  const onDisk = (id: string): unknown => JSON.parse(readFileSync(at('things', id, 'thing.json'), 'utf8'));

  it.each(UNKNOWN)('waits for a record that cannot be read with %s', async (code) => {
    vi.useFakeTimers();
    store().saveNew({ id: 'a' });
    failing('thing.json', code, 5);
    const loaded = store().load();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(await loaded).toEqual({ entries: [{ id: 'a' }], broken: [] });
  });

  it.each(['EMFILE', 'ENFILE', 'ENOMEM', 'EAGAIN'])('loads nothing when there is %s for good', async (code) => {
    vi.useFakeTimers();
    store().saveNew({ id: 'a' });
    failing('thing.json', code);
    const loaded = expect(store().load()).rejects.toThrow(code);
    await vi.advanceTimersByTimeAsync(20_000);
    await loaded;
    expect(onDisk('a')).toEqual({ id: 'a' });
  });

  it.each([
    ['of which the disk gives nothing back', '{"id":"a"}', 'EIO'],
    ['that is cut off', '{"id":', undefined],
    ['that is empty', '', undefined],
    ['of another one', '{"id":"b"}', undefined],
  ])('names a record %s, and keeps it', async (_what, text, code) => {
    vi.useFakeTimers();
    store().saveNew({ id: 'a' });
    writeFileSync(at('things', 'a', 'thing.json'), text);
    if (code) failing('thing.json', code);
    const loaded = store().load();
    await vi.advanceTimersByTimeAsync(20_000);
    expect(await loaded).toEqual({ entries: [], broken: ['a'] });
    injectFaults(null);
    expect(store().setAside('a')).toBe(at('things-unreadable', 'a'));
    expect(readFileSync(at('things-unreadable', 'a', 'thing.json'), 'utf8')).toBe(text);
    expect(await store().load()).toEqual({ entries: [], broken: [] });
  });

  it.each([...UNKNOWN, 'ENOSPC'])('writes what has happened as soon as it can, after %s', async (code) => {
    vi.useFakeTimers();
    const things = store();
    const thing: { id: string; record: { id: string; n?: number } } = { id: 'a', record: { id: 'a', n: 1 } };
    const withN = (n: number) => (record: { id: string }) => ({ ...record, n });
    things.saveNew(thing.record);
    failing('thing.json', code);
    await expect(things.save(thing, withN(2))).rejects.toThrow(code);
    expect(thing.record.n).toBe(1);
    await things.saveEventually(thing, withN(3));
    expect(thing.record.n).toBe(3);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(onDisk('a')).toEqual({ id: 'a', n: 1 });
    injectFaults(null);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(onDisk('a')).toEqual({ id: 'a', n: 3 });
    await things.close();
  });

  it('writes nothing of what was removed meanwhile', async () => {
    vi.useFakeTimers();
    const things = store();
    const thing = { id: 'a', record: { id: 'a' } };
    things.saveNew(thing.record);
    failing('thing.json', 'ENOSPC');
    await things.saveEventually(thing, (record) => record);
    injectFaults(null);
    await things.remove('a');
    await things.saveEventually(thing, (record) => record);
    await expect(things.save(thing, (record) => record)).rejects.toThrow('the record of a was removed');
    await vi.advanceTimersByTimeAsync(5_000);
    expect(existsSync(at('things', 'a'))).toBe(false);
    await things.close();
  });
});

/** The group of a container that was made where its pod's wanted parent was missing, in files that stand for a hierarchy. */
const groups = (): [Cgroup] => {
  const hierarchy = { mount: at('mount'), version: 1 as const };
  const layout: CgroupLayout = { tracking: hierarchy, hierarchies: [hierarchy], controllers: new Map() };
  const cgroup = Cgroup.ofSandbox(layout, { parent: 'wanted', home: 'home' }, 'pod').child('main');
  cgroup.create();
  writeFileSync(at('mount', 'home', 'pod', 'main', 'cgroup.procs'), '4194304\n');
  return [cgroup];
};

it('finds the processes of a group although the parent that was missing has been made since', () => {
  const [cgroup] = groups();
  expect(cgroup.pids()).toEqual([4194304]);
  mkdirSync(at('mount', 'wanted'));
  expect(cgroup.pids()).toEqual([4194304]);
});

it('takes no line of cgroup.procs for a process that is none of a container', () => {
  const [cgroup] = groups();
  // The kernel lists a process of an outer namespace, and one that is reaped meanwhile, as 0.
  writeFileSync(at('mount', 'home', 'pod', 'main', 'cgroup.procs'), '0\n4194304\n0\n1\n\n');
  expect(cgroup.pids()).toEqual([4194304]);
});

it.each(['EBUSY', 'EMFILE'])('removes a group that cannot be removed at once: %s', async (code) => {
  const hierarchy = { mount: at('mount'), version: 1 as const };
  const layout: CgroupLayout = { tracking: hierarchy, hierarchies: [hierarchy], controllers: new Map() };
  const cgroup = Cgroup.ofSandbox(layout, { parent: '', home: 'home' }, 'pod').child('main');
  cgroup.create();
  cgroup.child('below').create();
  failing('main/below', code, 3);
  await cgroup.remove();
  expect(cgroup.exists()).toBe(false);
  expect(existsSync(at('mount', 'home', 'pod'))).toBe(true);
});

it('sweeps the groups of probes whose makers are gone, and no other group', () => {
  const self = processId(process.pid)!;
  const [mine, older] = [`rx-embedded-probe-${self.pid}-${self.startTime}-0a`, `rx-embedded-probe-${self.pid}`];
  const gone = 2 ** 22 + 1;
  const dead = [`rx-embedded-probe-${self.pid}-1-0a`, `rx-embedded-probe-${gone}-7-0a`, `rx-embedded-probe-${gone}`];
  for (const name of [mine, older, ...dead, 'rx-embedded', `x-rx-embedded-probe-${gone}`]) mkdirSync(at(name));
  sweepProbes(directory);
  expect(readdirSync(directory).toSorted()).toEqual(
    [mine, older, 'rx-embedded', `x-rx-embedded-probe-${gone}`].toSorted(),
  );
  expect(() => sweepProbes(at('missing'))).not.toThrow();
});

it.each(['EAGAIN', 'EMFILE', 'ENFILE', 'ENOMEM'])('says %s of a process that cannot be made', async (code) => {
  failing('/bin/true', code);
  await expect(startProcess('/bin/true', [], {})).rejects.toThrow(code);
  injectFaults(null);
  await expect(startProcess('/no/such/program', [], {})).rejects.toThrow('ENOENT');
});

it.each([
  ['/bin/sh: 2: Cannot fork', true],
  ['sh: fork: retry: Resource temporarily unavailable', true],
  ['nsenter: fork failed: Cannot allocate memory', true],
  ['sh: 1: cannot open /x: Too many open files', true],
  ['exec: "fork": executable file not found in $PATH', false],
  ['nsenter: cannot open /proc/1/ns/mnt: No such file or directory', false],
])('reads "%s" as a shortage: %s', (text, expected) => {
  expect(isShortageText(text)).toBe(expected);
});

it('finds the processes of a group in the hierarchy in which it was made, even if that cannot be used now', () => {
  const [made] = groups();
  expect(made.pids()).toEqual([4194304]);
  const other = { mount: at('other'), version: 2 as const };
  const now: CgroupLayout = { tracking: other, hierarchies: [other], controllers: new Map() };
  for (const usable of [now, undefined]) {
    const layout = layoutWith(usable, { mount: at('mount'), version: 1 });
    const cgroup = Cgroup.ofSandbox(layout, { parent: '', home: 'home' }, 'pod').child('main');
    expect(cgroup.pids()).toEqual([4194304]);
  }
});
