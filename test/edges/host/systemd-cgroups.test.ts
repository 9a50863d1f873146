import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { lastValueFrom } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { CgroupFiles } from '../../../src/host/cgroups/cgroupfs.js';
import { systemdCgroups } from '../../../src/host/cgroups/systemd-cgroups.js';
import { startSliceArgs } from '../../../src/host/cgroups/systemd-call.js';
import { all } from './cgroup-stage.js';

// No machine of ours is run by systemd: what is tested is what is sent to it, in which order, and what becomes of its answers.

const POD = ['kubepods', 'burstable', 'pod1-2'];
const PATH = '/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1_2.slice';

/** A systemd that answers by method; what it was asked and what was written into files is noted in order. */
const aSystemd = (answers: Readonly<Record<string, readonly (string | Error)[]>> = {}) => {
  const log: string[] = [];
  const queues = new Map(
    Object.entries(answers).map(([method, queue]): [string, (string | Error)[]] => [method, [...queue]]),
  );
  const busctl = (args: readonly string[]): Promise<string> => {
    const isQuestion = args[2] === 'get-property';
    const method = (isQuestion ? args.at(-1) : args[6]) ?? '';
    log.push(isQuestion ? `? ${method}` : `${method} ${args[8]}`);
    const queue: (string | Error)[] = queues.get(method) ?? [DEFAULTS[method] ?? ''];
    const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? '';
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  };
  const files: CgroupFiles = {
    version: 2,
    hugePageSizes: [],
    directories: () => [],
    missing: (path) => [path],
    read: () => undefined,
    make: (path) => Promise.resolve(void log.push(`make ${path}`)),
    write: (path, resources) => {
      log.push(`write ${path} ${Object.keys(resources).join()}`);
      return Promise.resolve([]);
    },
  };
  return { log, cgroups: systemdCgroups(files, { allCpus: '0-1', busctl, isRunning: () => true }) };
};
const DEFAULTS: Readonly<Record<string, string>> = { Version: 's "252.30"\n', ActiveState: 's "active"\n' };

describe('a cgroup under systemd', () => {
  it('has the path of its slice, and its name back', async () => {
    const { cgroups } = aSystemd();
    expect(cgroups.pathOf(POD)).toBe(PATH);
    expect(cgroups.nameOf('/system.slice')).toEqual(['system']);
    expect(await lastValueFrom(cgroups.missing(POD))).toEqual([PATH]);
    expect(cgroups.allCpus).toBe('0-1');
  });

  it('is made by systemd, waited for, and then written, too', async () => {
    const { cgroups, log } = aSystemd({ ActiveState: ['s "inactive"\n', 's "active"\n'] });
    expect(await all(cgroups.create(POD, { cpuShares: 2 }))).toEqual([]);
    const slice = 'kubepods-burstable-pod1_2.slice';
    expect(log).toEqual([
      '? Version',
      `StartTransientUnit ${slice}`,
      '? ActiveState',
      '? ActiveState',
      `SetUnitProperties ${slice}`,
      `make ${PATH}`,
      `write ${PATH} cpuShares`,
    ]);
  });

  it('may be there already', async () => {
    const { cgroups, log } = aSystemd({
      StartTransientUnit: [new Error('systemd: Call failed: Unit x already exists.')],
    });
    await all(cgroups.create(POD, {}));
    expect(log).toContain(`make ${PATH}`);
  });

  it('is not made in the file system when systemd refuses', async () => {
    const { cgroups, log } = aSystemd({ StartTransientUnit: [new Error('systemd: Call failed: Access denied')] });
    await expect(all(cgroups.create(POD, {}))).rejects.toThrow('Access denied');
    expect(log.filter((line) => line.startsWith('make'))).toEqual([]);
  });

  it('is changed in systemd and in the files, since systemd writes its own view now and then', async () => {
    const { cgroups, log } = aSystemd();
    await all(cgroups.update(POD, { memory: 1n }));
    expect(log.slice(1)).toEqual(['SetUnitProperties kubepods-burstable-pod1_2.slice', `write ${PATH} memory`]);
  });

  it('is stopped before it is removed, and need not be there', async () => {
    const { cgroups, log } = aSystemd({
      StopUnit: [new Error('systemd: Call failed: Unit x not loaded.')],
      ActiveState: [new Error('systemd: Failed to get property: Unit x not loaded.')],
    });
    await all(cgroups.remove(POD));
    expect(log).toEqual(['StopUnit kubepods-burstable-pod1_2.slice', '? ActiveState']);
  });

  it('asks for the version again when it got no answer', async () => {
    const { cgroups, log } = aSystemd({ Version: [new Error('systemd: Failed to connect to bus'), 's "245"\n'] });
    await expect(all(cgroups.update(POD, {}))).rejects.toThrow('Failed to connect to bus');
    await all(cgroups.update(POD, {}));
    expect(log.filter((line) => line === '? Version')).toHaveLength(2);
  });
});

it('is refused with a hint where systemd does not run', () => {
  const files = { version: 2 } as unknown as CgroupFiles;
  expect(() => systemdCgroups(files, { allCpus: '0', isRunning: () => false })).toThrow(
    'the cgroup driver is systemd, but systemd does not run this machine (there is no /run/systemd/system): ' +
      'let the runtime use cgroupfs, or set cgroupDriver: cgroupfs if the runtime does not report its driver',
  );
});

it('says what busctl says', async () => {
  // A machine without a bus, or with one that does not know us: either way it is systemd that is named.
  const files = { ...({} as CgroupFiles), version: 2 as const, hugePageSizes: [] };
  const cgroups = systemdCgroups(files, { allCpus: '0', isRunning: () => true });
  await expect(all(cgroups.update(['rx-kubelet-no-such-slice'], {}))).rejects.toThrow(/systemd/);
});

it.runIf(existsSync('/usr/bin/busctl'))('calls busctl so that the root of the slices is no option to it', () => {
  const args = startSliceArgs(['kubepods'], { cgroupVersion: 2, systemdVersion: 252 }, {});
  // That bus has no server: busctl connects only after it has read its arguments.
  const env = { ...process.env, LC_ALL: 'C', DBUS_SYSTEM_BUS_ADDRESS: 'unix:path=/no/such/bus' };
  expect(spawnSync('/usr/bin/busctl', args, { env, encoding: 'utf8' }).stderr).toContain('Failed to connect');
});
