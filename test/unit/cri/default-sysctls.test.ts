import { describe, expect, it } from 'vitest';
import { defaultSysctlProblems, defaultSysctls } from '../../../src/model/cri/default-sysctls.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aPod } from '../pods.js';

const GROUPS = {
  ipc: ['kernel.sem', 'kernel.msgmax', 'kernel.shmall', 'kernel.shm_rmid_forced', 'fs.mqueue.msg_max'],
  net: ['net.core.somaxconn', 'net.ipv4.ip_forward'],
  user: ['user.max_user_namespaces'],
  uts: ['kernel.domainname'],
} as const;
type Group = keyof typeof GROUPS;
const ALL: readonly string[] = Object.values(GROUPS).flat();
const DEFAULTS = Object.fromEntries(ALL.map((name) => [name, '1']));

describe('default sysctls', () => {
  it.each<[spec: Partial<PodSpec>, groups: readonly Group[]]>([
    [{}, ['ipc', 'net', 'uts']],
    [{ hostIPC: true }, ['net', 'uts']],
    [{ hostNetwork: true }, ['ipc']],
    [{ hostPID: true }, ['ipc', 'net', 'uts']],
    [{ hostUsers: false }, ['ipc', 'net', 'user', 'uts']],
    [{ hostUsers: true }, ['ipc', 'net', 'uts']],
    [{ hostUsers: false, hostIPC: true, hostNetwork: true }, ['user']],
    [{ hostIPC: true, hostNetwork: true }, []],
    [{ hostIPC: false, hostNetwork: false, hostUsers: false }, ['ipc', 'net', 'user', 'uts']],
  ])('of a pod with %j are those of %j', (spec, groups) => {
    const expected = groups.flatMap((group): readonly string[] => GROUPS[group]);
    expect(Object.keys(defaultSysctls(DEFAULTS, aPod(spec).spec)).toSorted()).toEqual(expected.toSorted());
  });

  it('have normalized names', () => {
    expect(defaultSysctls({ 'net/ipv4/conf/eno2.100/rp_filter': '2' }, aPod().spec)).toEqual({
      'net.ipv4.conf.eno2/100.rp_filter': '2',
    });
  });
});

describe('the names of default sysctls', () => {
  it('may be any with a namespace', () => {
    expect(defaultSysctlProblems([...ALL, 'net/core/rmem_max'])).toEqual([]);
  });

  it.each([
    ['kernel.pid_max', 'has no namespace'],
    ['vm.swappiness', 'has no namespace'],
    ['kernel.semaphores', 'has no namespace'],
    ['network.core', 'has no namespace'],
    ['kernel.hostname', 'has no namespace'],
    ['net', 'has no namespace'],
    ['net.*', 'is not the name of a kernel parameter'],
    ['Net.core', 'is not the name of a kernel parameter'],
    ['net..core', 'is not the name of a kernel parameter'],
    ['', 'is not the name of a kernel parameter'],
    [`net.${'a'.repeat(250)}`, 'is not the name of a kernel parameter'],
  ])('may not be %s', (name, problem) => {
    expect(defaultSysctlProblems(['net.core.somaxconn', name])).toEqual([
      expect.stringContaining(`defaultPodSysctls[${JSON.stringify(name)}] ${problem}`),
    ]);
  });

  it('may not occur in both forms', () => {
    expect(defaultSysctlProblems(['net.core.somaxconn', 'net/core/somaxconn'])).toEqual([
      'defaultPodSysctls["net/core/somaxconn"] is the same parameter as "net.core.somaxconn", expected it once',
    ]);
  });
});
