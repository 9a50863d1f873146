import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { cgroupMounts } from '../../src/model/cgroups/cgroup-mounts.js';
import { isAlive, type ProcessId, processId } from '../../src/runtime/embedded/confinement/process-tree.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerOf } from '../embedded/manifests.js';
import { readTextOf } from '../embedded/processes.js';
import { killProcess } from '../support/kill-process.js';
import { type ContainerdNode, it } from './containerd-node.js';
import { overContainerd } from './missing.js';

const { version, hierarchies } = cgroupMounts(readFileSync('/proc/self/mountinfo', 'utf8'));

/** The directory of a cgroup in the tree of that controller. */
const directory = (path: string, controller: string): string => {
  const tree = hierarchies.find(({ controllers }) => version === 2 || controllers.includes(controller));
  if (!tree) throw new Error(`this machine does not have the controller ${controller}, which the test needs`);
  return join(tree.mountPoint, path);
};
const file = (path: string, controller: string, name: string): string =>
  readFileSync(join(directory(path, controller), name), 'utf8').trim();

/** What a cgroup may use, in the words of cgroup v1; `none` for no limit. */
const limitsOf = (path: string) => {
  if (version === 2) {
    const [quota = '', period] = file(path, 'cpu', 'cpu.max').split(' ');
    const none = (text: string) => (text === 'max' ? 'none' : text);
    return {
      weight: file(path, 'cpu', 'cpu.weight'),
      quota: none(quota),
      period,
      memory: none(file(path, 'memory', 'memory.max')),
      pids: none(file(path, 'pids', 'pids.max')),
    };
  }
  const memory = BigInt(file(path, 'memory', 'memory.limit_in_bytes'));
  const [quota, pids] = [file(path, 'cpu', 'cpu.cfs_quota_us'), file(path, 'pids', 'pids.max')];
  return {
    weight: file(path, 'cpu', 'cpu.shares'),
    quota: quota === '-1' ? 'none' : quota,
    period: file(path, 'cpu', 'cpu.cfs_period_us'),
    memory: memory > 1n << 60n ? 'none' : String(memory),
    pids: pids === 'max' ? 'none' : pids,
  };
};
const weight = (v1: number, v2: number): string => String(version === 2 ? v2 : v1);

/** Where the kernel has a process, in the tree of the memory controller. */
const cgroupOf = (pid: number): string => {
  const lines = readTextOf(pid, 'cgroup').trim().split('\n');
  const line = lines.find((entry) => (version === 2 ? entry.startsWith('0::') : entry.split(':')[1] === 'memory'));
  return line?.split(':').slice(2).join(':') ?? '';
};

/** Every directory of a pod's cgroup that there is, in all trees. */
const tracesOf = (root: string, uid: string): string[] =>
  hierarchies.flatMap(({ mountPoint }) =>
    ['', 'burstable', 'besteffort']
      .map((tier) => join(mountPoint, root, 'kubepods', tier, `pod${uid}`))
      .filter((path) => existsSync(path)),
  );

/** Processes of the cgroup and below, into the root of its tree. */
const moveUp = (path: string): void => {
  const root = hierarchies.find(({ mountPoint }) => path.startsWith(`${mountPoint}/`))?.mountPoint ?? '';
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) moveUp(join(path, entry.name));
  const pids = readFileSync(join(path, 'cgroup.procs'), 'utf8').split('\n').filter(Boolean);
  for (const pid of pids) writeFileSync(join(root, 'cgroup.procs'), pid);
};

/** A process of no pod that stays in a cgroup below that one. */
const processIn = async (path: string): Promise<ProcessId> => {
  const below = join(directory(path, 'pids'), 'stray');
  mkdirSync(below);
  const script = `echo $$ > ${below}/cgroup.procs; exec sleep 2147483`;
  const { pid } = spawn('sh', ['-c', script], { stdio: 'ignore', detached: true });
  const process = pid === undefined ? undefined : processId(pid);
  if (!process) throw new Error('there is no stray process');
  await eventually('the process is in it', () =>
    readFileSync(join(below, 'cgroup.procs'), 'utf8').split('\n').includes(String(pid)),
  );
  return process;
};

const removeTree = (path: string): void => {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) removeTree(join(path, entry.name));
  rmdirSync(path);
};

const started = async (node: ContainerdNode, pod: string) => {
  const { id } = await node.reached(pod, 'CONTAINER_RUNNING');
  const pid = await node.pidOf(id);
  const [container] = await node.containersOf(pod);
  return { id, pid, uid: container?.uid ?? '', cgroup: cgroupOf(pid) };
};

const guaranteed: ContainerOf = {
  resources: { requests: { cpu: '250m', memory: '64Mi' }, limits: { cpu: '250m', memory: '64Mi' } },
};
const asking: ContainerOf = { resources: { requests: { cpu: '500m', memory: '16Mi' } } };
const limited: ContainerOf = {
  resources: { requests: { cpu: '100m', memory: '16Mi' }, limits: { cpu: '500m', memory: '32Mi' } },
};

const SLOW_MS = 300_000;

overContainerd(
  'cgroups of pods',
  () => {
    it(
      'are where the class of the pod says, with the limits of the whole pod',
      { timeout: SLOW_MS },
      async ({ node }) => {
        node.apply({ name: 'guaranteed', containers: [guaranteed, { ...guaranteed, name: 'other' }] });
        node.apply({ name: 'asking', containers: [asking, { ...limited, name: 'other' }] });
        node.apply({ name: 'limited', containers: [limited] });
        node.apply({ name: 'free' });
        await node.start(
          '--config',
          node.configuration({ podPidsLimit: 500, systemReserved: { cpu: '500m', memory: '100Mi' } }),
        );
        const kubepods = `${node.cgroupRoot}/kubepods`;
        const MEBI = 2 ** 20;
        const wanted = {
          guaranteed: {
            path: kubepods,
            limits: {
              weight: weight(512, 20),
              quota: '50000',
              period: '100000',
              memory: String(128 * MEBI),
              pids: '500',
            },
          },
          asking: {
            path: `${kubepods}/burstable`,
            limits: { weight: weight(614, 24), quota: 'none', period: '100000', memory: 'none', pids: '500' },
          },
          limited: {
            path: `${kubepods}/burstable`,
            limits: {
              weight: weight(102, 4),
              quota: '50000',
              period: '100000',
              memory: String(32 * MEBI),
              pids: '500',
            },
          },
          free: {
            path: `${kubepods}/besteffort`,
            limits: { weight: weight(2, 1), quota: 'none', period: '100000', memory: 'none', pids: '500' },
          },
        };
        for (const [name, { path, limits }] of Object.entries(wanted)) {
          const { id, uid, cgroup } = await started(node, name);
          expect(cgroup).toBe(`${path}/pod${uid}/${id}`);
          expect(limitsOf(`${path}/pod${uid}`)).toEqual(limits);
        }
        // All burstable pods together weigh what they ask for: 500m + 100m and 100m.
        await eventually('the classes have their weight', () => {
          expect(limitsOf(`${kubepods}/burstable`).weight).toBe(weight(716, 28));
          expect(limitsOf(`${kubepods}/besteffort`).weight).toBe(weight(2, 1));
          return true;
        });
        const capacity = Number(/^MemTotal:\s+(\d+) kB/m.exec(readFileSync('/proc/meminfo', 'utf8'))?.[1]) * 1024;
        const processors = readFileSync('/proc/cpuinfo', 'utf8').match(/^processor\s/gm)?.length ?? 0;
        const pageSize = 4096;
        const all = limitsOf(kubepods);
        expect(Number(all.memory)).toBe(Math.floor((capacity - 100 * MEBI) / pageSize) * pageSize);
        if (version === 1) expect(all.weight).toBe(String(processors * 1024 - 512));
        const events = node.log.split('\n').filter((line) => line.includes('NodeAllocatable'));
        expect(events).toEqual([expect.stringContaining('Updated Node Allocatable limit across pods') as string]);
      },
    );

    it('go with their pod', { timeout: SLOW_MS }, async ({ node }) => {
      node.apply({ name: 'going', containers: [asking] });
      node.apply({ name: 'ending', restartPolicy: 'Never', containers: [{ script: 'exit 0' }] });
      node.apply({ name: 'staying' });
      await node.start();
      const going = await started(node, 'going');
      const staying = await started(node, 'staying');
      expect(tracesOf(node.cgroupRoot, going.uid)).toHaveLength(hierarchies.length);
      node.delete('going.yaml');
      await eventually('the cgroup is gone', () => tracesOf(node.cgroupRoot, going.uid).length === 0);
      await node.reached('ending', 'CONTAINER_EXITED');
      const [ended] = await node.containersOf('ending');
      await eventually(
        'that of the pod that has ended, too',
        () => tracesOf(node.cgroupRoot, ended?.uid ?? '').length === 0,
      );
      expect(cgroupOf(staying.pid)).toBe(staying.cgroup);
    });

    it(
      'are made again, with the pod, after an administrator has removed them',
      { timeout: SLOW_MS },
      async ({ node }) => {
        node.apply({ name: 'robbed', containers: [asking] });
        await node.start('--sync-frequency', '2s');
        const before = await started(node, 'robbed');
        const pods = `${node.cgroupRoot}/kubepods/burstable`;
        const lost = directory(`${pods}/pod${before.uid}`, 'cpu');
        await eventually('the cgroup is removed', () => {
          if (!existsSync(lost) || tracesOf(node.cgroupRoot, before.uid).length < hierarchies.length) return true;
          // Where each controller has its own tree the process goes on, out of reach of the limits of its pod.
          if (version === 1) moveUp(lost);
          else killProcess(before.pid);
          removeTree(lost);
          return true;
        });
        const after = await eventually(
          'the pod runs in a new sandbox',
          async () => {
            const [newest] = await node.containersOf('robbed');
            if (newest?.state !== 'CONTAINER_RUNNING' || newest.id === before.id) return undefined;
            return started(node, 'robbed');
          },
          SLOW_MS,
        );
        expect(after.uid).toBe(before.uid);
        expect(existsSync(`/proc/${before.pid}`)).toBe(false);
        expect(after.cgroup).toBe(`${pods}/pod${after.uid}/${after.id}`);
        expect(limitsOf(`${pods}/pod${after.uid}`).weight).toBe(weight(512, 20));
      },
    );

    it(
      'are removed with all that is in them when their pods went while the agent was killed',
      { timeout: SLOW_MS },
      async ({ node }) => {
        for (const name of ['lost-0', 'lost-1', 'kept']) node.apply({ name, containers: [asking] });
        await node.start();
        const lost = await Promise.all(['lost-0', 'lost-1'].map((name) => started(node, name)));
        const kept = await started(node, 'kept');
        await node.kill('SIGKILL');
        for (const name of ['lost-0', 'lost-1']) node.delete(`${name}.yaml`);
        // Only the kernel knows of this one.
        const stray = await processIn(`${node.cgroupRoot}/kubepods/burstable/pod${lost[0]?.uid}`);
        await node.start();
        await eventually(
          'nothing is left of them',
          () => lost.flatMap(({ uid }) => tracesOf(node.cgroupRoot, uid)).length === 0,
        );
        expect(isAlive(stray)).toBe(false);
        expect(cgroupOf(kept.pid)).toBe(kept.cgroup);
        expect((await node.reached('kept', 'CONTAINER_RUNNING')).id).toBe(kept.id);
      },
    );

    it('are not made where the configuration says so', { timeout: SLOW_MS }, async ({ node }) => {
      node.apply({ name: 'free' });
      await node.start('--config', node.configuration({ cgroupsPerQOS: false, enforceNodeAllocatable: [] }));
      const { cgroup } = await started(node, 'free');
      expect(cgroup).not.toContain('kubepods');
      expect(existsSync(directory(`${node.cgroupRoot}/kubepods`, 'memory'))).toBe(false);
    });
  },
  { alone: true },
);

overContainerd(
  'an agent that cannot make cgroups',
  () => {
    it('says which root is missing, and ends', { timeout: SLOW_MS }, async ({ node }) => {
      node.spawn('--pod-manifest-path', node.manifests, '--cgroup-root', '/rxct-nobody');
      await eventually('the agent has ended', () => node.agent.exitCode === 1);
      expect(node.log).toMatch(
        /invalid configuration: cgroupRoot: cgroup \["rxct-nobody"\] has some missing paths: \/sys\/fs/,
      );
    });

    it('takes the driver of the runtime, or else the configured one, which systemd has to be there for', async ({
      node,
    }) => {
      const said = await node.ask((runtime) => runtime.runtimeConfig({})).catch(() => undefined);
      node.apply({ name: 'one' });
      node.spawn('--pod-manifest-path', node.manifests, '--cgroup-driver', 'systemd');
      if (said?.linux) {
        expect(said.linux.cgroupDriver).toBe('CGROUPFS');
        expect((await started(node, 'one')).cgroup).toContain(`${node.cgroupRoot}/kubepods/besteffort/pod`);
      } else if (!existsSync('/run/systemd/system')) {
        await eventually('the agent has ended', () => node.agent.exitCode === 1);
        expect(node.log).toContain('the cgroup driver is systemd, but systemd does not run this machine');
      }
    });
  },
  { alone: true },
);
