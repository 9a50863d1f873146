import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { eventually } from '../embedded/eventually.js';
import { procStatus, running, toldOfContainer, toldOfSandbox } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();
const [NET_BIND_SERVICE, NET_ADMIN] = [1n << 10n, 1n << 12n];
const bits = (pid: number, set: string): bigint => BigInt(`0x${procStatus(pid, set)}`);

overContainerd('what the kernel lets a container do', () => {
  it('is as much as the container needs', async ({ node }) => {
    node.apply({
      name: 'strict',
      containers: [
        {
          securityContext: {
            ...{ runAsNonRoot: true, runAsUser: 1000, readOnlyRootFilesystem: true, allowPrivilegeEscalation: false },
            capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] },
            seccompProfile: { type: 'RuntimeDefault' },
          },
        },
      ],
    });
    const { id, pid } = await running(node, 'strict');
    expect([bits(pid, 'CapBnd'), bits(pid, 'CapEff')]).toEqual([NET_BIND_SERVICE, 0n]);
    expect([procStatus(pid, 'Seccomp'), procStatus(pid, 'NoNewPrivs')]).toEqual(['2', '1']);
    await expect(node.exec(id, 'touch', '/tmp/file')).rejects.toThrow('Read-only file system');
  });

  it('is what the runtime thinks best where nothing is said', async ({ node }) => {
    node.apply({
      name: 'usual',
      containers: [{}, { name: 'may', securityContext: { allowPrivilegeEscalation: true } }],
    });
    const { id, pid } = await running(node, 'usual');
    expect(await node.exec(id, 'touch', '/tmp/file')).toBe('');
    expect([procStatus(pid, 'Seccomp'), procStatus(pid, 'NoNewPrivs')]).toEqual(['0', '0']);
    expect(procStatus((await running(node, 'usual', 'may')).pid, 'NoNewPrivs')).toBe('0');
    expect(bits(pid, 'CapEff') & NET_BIND_SERVICE).toBe(NET_BIND_SERVICE);
    expect(bits(pid, 'CapEff') & NET_ADMIN).toBe(0n);
    const { config, spec } = await toldOfContainer(node, id);
    // A container without an AppArmor profile in its spec gets none on a machine without AppArmor.
    expect(Object.keys(config.linux.security_context ?? {})).not.toContain('apparmor');
    if (!existsSync('/sys/kernel/security/apparmor')) expect(spec.process.apparmorProfile).toBeUndefined();
  });

  it('is more or less by single capabilities', async ({ node }) => {
    const capabilities = { add: ['NET_ADMIN'], drop: ['NET_BIND_SERVICE'] };
    node.apply({ name: 'capable', containers: [{ securityContext: { capabilities } }, { name: 'usual' }] });
    const [capable, usual] = await Promise.all([running(node, 'capable'), running(node, 'capable', 'usual')]);
    expect(bits(capable.pid, 'CapEff')).toBe((bits(usual.pid, 'CapEff') | NET_ADMIN) & ~NET_BIND_SERVICE);
  });

  it('is everything in a privileged container, beside others', async ({ node }) => {
    node.apply({
      name: 'privileged',
      containers: [{ securityContext: { privileged: true } }, { name: 'usual' }],
    });
    const [all, usual] = await Promise.all([running(node, 'privileged'), running(node, 'privileged', 'usual')]);
    // As much as this machine has; what a container gets beyond the usual cannot be more than that.
    const ofMachine = BigInt(`0x${/^CapBnd:\s*(\w+)$/m.exec(readFileSync('/proc/1/status', 'utf8'))?.[1]}`);
    expect(bits(all.pid, 'CapEff')).toBe(ofMachine);
    expect(bits(usual.pid, 'CapEff')).not.toBe(ofMachine);
    expect(procStatus(all.pid, 'Seccomp')).toBe('0');
    const { spec } = await toldOfContainer(node, all.id);
    expect([spec.linux.maskedPaths ?? [], spec.linux.readonlyPaths ?? []]).toEqual([[], []]);
    const devices = async (id: string) => Number(await node.exec(id, 'sh', '-c', 'ls /dev | wc -l'));
    expect(await devices(all.id)).toBeGreaterThan(await devices(usual.id));
    expect((await toldOfSandbox(node, 'privileged')).config.linux.security_context?.privileged).toBe(true);
  });
});

overContainerd('system calls', () => {
  it('are filtered as the container says, or else the pod', async ({ node }) => {
    const profile = (type: string) => ({ seccompProfile: { type } });
    node.apply({
      ...{ name: 'filtered', securityContext: profile('RuntimeDefault') },
      containers: [{}, { name: 'free', securityContext: profile('Unconfined') }],
    });
    const mode = async (name: string) => procStatus((await running(node, 'filtered', name)).pid, 'Seccomp');
    expect([await mode('main'), await mode('free')]).toEqual(['2', '0']);
    // Of the pod's own process the runtime's profile is always asked for.
    const { config } = await toldOfSandbox(node, 'filtered');
    expect(config.linux.security_context?.seccomp).toEqual({});
  });

  it('are filtered by a profile of the machine', async ({ node }) => {
    const folder = join(node.rootDir, 'seccomp', 'profiles');
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, 'no-folders.json'),
      JSON.stringify({
        defaultAction: 'SCMP_ACT_ALLOW',
        syscalls: [{ names: ['mkdir', 'mkdirat'], action: 'SCMP_ACT_ERRNO' }],
      }),
    );
    const local = (localhostProfile: string) => ({ seccompProfile: { type: 'Localhost', localhostProfile } });
    node.apply({ name: 'local', containers: [{ securityContext: local('profiles/no-folders.json') }] });
    node.apply({ name: 'no-profile', containers: [{ securityContext: local('profiles/none.json') }] });
    const { id, pid } = await running(node, 'local');
    expect(procStatus(pid, 'Seccomp')).toBe('2');
    expect(await node.exec(id, 'touch', '/tmp/file')).toBe('');
    await expect(node.exec(id, 'mkdir', '/tmp/folder')).rejects.toThrow('Operation not permitted');
    await eventually('the missing profile is reported', async () => {
      const waiting = await node.waiting('no-profile');
      expect(waiting.reason).toBe('CreateContainerError');
      return waiting.message?.includes(join(node.rootDir, 'seccomp/profiles/none.json'));
    });
  });
});

overContainerd('files of the kernel', () => {
  it('are hidden and protected', async ({ node }) => {
    node.apply({ name: 'proc' });
    const { id } = await running(node, 'proc');
    const { spec } = await toldOfContainer(node, id);
    const { maskedPaths = [], readonlyPaths } = spec.linux;
    const always = [
      ...['/proc/asound', '/proc/acpi', '/proc/interrupts', '/proc/kcore', '/proc/keys', '/proc/latency_stats'],
      ...['/proc/timer_list', '/proc/timer_stats', '/proc/sched_debug', '/proc/scsi', '/sys/firmware'],
      '/sys/devices/virtual/powercap',
    ];
    expect(maskedPaths.slice(0, always.length)).toEqual(always);
    for (const path of maskedPaths.slice(always.length)) {
      expect(path).toMatch(/^\/sys\/devices\/system\/cpu\/cpu\d+\/thermal_throttle$/);
      expect(existsSync(path)).toBe(true);
    }
    expect(readonlyPaths).toEqual(['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']);
    expect(await node.exec(id, 'sh', '-c', 'wc -c < /proc/interrupts')).toBe('0');
    await expect(node.exec(id, 'sh', '-c', 'echo 1 > /proc/sys/vm/drop_caches')).rejects.toThrow('Read-only');
  });

  it('have the values that the pod asks for', async ({ node }) => {
    const sysctls = [
      { name: 'kernel.shm_rmid_forced', value: '1' },
      // Slashes are another way to write it.
      { name: 'net/ipv4/ip_unprivileged_port_start', value: '80' },
      { name: 'net.ipv4.ping_group_range', value: '0 65535' },
    ];
    node.apply({ name: 'sysctls', securityContext: { sysctls }, containers: [{}, { name: 'other' }] });
    node.apply({ name: 'usual-sysctls' });
    const read = async (pod: string, name: string, path: string) =>
      node.exec((await running(node, pod, name)).id, 'cat', `/proc/sys/${path}`);
    for (const name of ['main', 'other']) {
      expect(await read('sysctls', name, 'kernel/shm_rmid_forced')).toBe('1');
      expect(await read('sysctls', name, 'net/ipv4/ip_unprivileged_port_start')).toBe('80');
      expect((await read('sysctls', name, 'net/ipv4/ping_group_range')).split(/\s+/)).toEqual(['0', '65535']);
    }
    expect(await read('usual-sysctls', 'main', 'kernel/shm_rmid_forced')).toBe('0');
    const { config } = await toldOfSandbox(node, 'sysctls');
    expect(Object.keys(config.linux.sysctls ?? {})).toContain('net.ipv4.ip_unprivileged_port_start');
  });
});
