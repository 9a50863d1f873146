import { readdirSync, readFileSync } from 'node:fs';
import { totalmem } from 'node:os';
import { expect } from 'vitest';
import type { ContainerdNode } from './containerd-node.js';
import { running, toldOfContainer, toldOfSandbox } from './inside.js';
import { limitsOf } from './limits-of.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode();
const MEBI = 2 ** 20;

overContainerd('the cgroups of containers', () => {
  const unlimited = { memory: Infinity, cpuQuota: Infinity, cpuPeriod: 100_000, cpuShares: 2 };

  it.for([
    ['nothing', {}, {}],
    ['a-request', { requests: { cpu: '250m' } }, { cpuShares: 256 }],
    ['a-limit', { limits: { cpu: '500m' } }, { cpuShares: 512, cpuQuota: 50_000 }],
    ['both', { requests: { cpu: '100m' }, limits: { cpu: '1500m' } }, { cpuShares: 102, cpuQuota: 150_000 }],
    ['hardly-any', { limits: { cpu: '1m' } }, { cpuShares: 2, cpuQuota: 1_000 }],
    ['memory', { requests: { memory: '32Mi' }, limits: { memory: '64Mi' } }, { memory: 64 * MEBI }],
    ['only-a-request-of-memory', { requests: { memory: '32Mi' } }, {}],
  ] as const)('hold what is asked for: %s', async ([name, resources, limits], { node }) => {
    node.apply({ name, containers: [{ resources }] });
    expect(limitsOf((await running(node, name)).pid)).toEqual({ ...unlimited, ...limits });
  });

  it('of a pod as a whole are passed, without what its sandbox costs', async ({ node }) => {
    const of = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { cpu, memory } });
    node.apply({
      name: 'sum',
      initContainers: [{ name: 'large', script: ':', resources: of('700m', '16Mi') }],
      containers: [{ resources: of('200m', '32Mi') }, { name: 'other', resources: of('300m', '32Mi') }],
    });
    await running(node, 'sum', 'other');
    const { config } = await toldOfSandbox(node, 'sum');
    expect(config.linux.resources).toMatchObject({
      ...{ cpu_shares: 716, cpu_quota: 70_000, cpu_period: 100_000, memory_limit_in_bytes: 64 * MEBI },
    });
  });

  it('have a limit for each size of huge pages that the machine has', async ({ node }) => {
    node.apply({ name: 'huge' });
    const { id } = await running(node, 'huge');
    const sizes = readdirSync('/sys/kernel/mm/hugepages').map((name) => Number(/hugepages-(\d+)kB/.exec(name)?.[1]));
    const names = sizes.map((kibi) =>
      kibi >= MEBI ? `${kibi / MEBI}GB` : kibi >= 1024 ? `${kibi / 1024}MB` : `${kibi}KB`,
    );
    const told = (await toldOfContainer(node, id)).config.linux.resources?.hugepage_limits ?? [];
    expect((told as { page_size: string }[]).map(({ page_size }) => page_size).toSorted()).toEqual(names.toSorted());
  });
});

overContainerd('when memory runs out', () => {
  /** What was asked for, and what the kernel says; a machine may refuse to go below what containerd itself has. */
  const scores = async (node: ContainerdNode, pod: string, name = 'main') => {
    const { id, pid } = await running(node, pod, name);
    const { config } = await toldOfContainer(node, id);
    return {
      asked: Number(config.linux.resources?.oom_score_adj ?? 0),
      real: Number(readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8')),
    };
  };
  const own = Number(readFileSync('/proc/self/oom_score_adj', 'utf8'));
  const share = (bytes: number) => 1000 - Math.trunc((1000 * bytes) / totalmem());

  it('the pods that ask for nothing go first, those with a guarantee last', async ({ node }) => {
    const all = { cpu: '100m', memory: '32Mi' };
    // Of two pods, so that the node can hold both.
    const quarter = Math.floor(totalmem() / 4 / MEBI);
    node.apply({ name: 'effort' });
    node.apply({ name: 'guaranteed', containers: [{ resources: { requests: all, limits: all } }] });
    node.apply({
      name: 'burstable',
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }],
      containers: [
        { resources: { requests: { memory: `${quarter}Mi` } } },
        { name: 'small', resources: { requests: { memory: '1Mi' } } },
        { name: 'none', resources: { requests: { cpu: '1m' } } },
      ],
    });
    node.apply({
      name: 'helped',
      initContainers: [{ name: 'sidecar', restartPolicy: 'Always' }],
      containers: [{ resources: { requests: { memory: `${quarter}Mi` } } }],
    });
    expect(await scores(node, 'effort')).toEqual({ asked: 1000, real: 1000 });
    const guaranteed = await scores(node, 'guaranteed');
    expect(guaranteed.asked).toBe(-997);
    expect(guaranteed.real).toBe(Math.max(-997, own));
    const middle = share(quarter * MEBI);
    expect(await scores(node, 'burstable')).toEqual({ asked: middle, real: Math.max(middle, own) });
    expect(await scores(node, 'burstable', 'small')).toEqual({ asked: 999, real: 999 });
    expect(await scores(node, 'burstable', 'none')).toEqual({ asked: 999, real: 999 });
    // A sidecar goes no earlier than the containers that it serves.
    expect(await scores(node, 'burstable', 'sidecar')).toEqual({ asked: 999, real: 999 });
    expect(await scores(node, 'helped', 'sidecar')).toEqual({ asked: middle, real: Math.max(middle, own) });
  });

  it('a container beyond its limit is ended, and that is the reason', async ({ node }) => {
    node.apply({
      ...{ name: 'hog', restartPolicy: 'Never' },
      containers: [{ resources: { limits: { memory: '16Mi' } }, script: 'x=y; while :; do x=$x$x; done' }],
    });
    expect(await node.reached('hog', 'CONTAINER_EXITED')).toMatchObject({ exitCode: 137, reason: 'OOMKilled' });
  });
});
