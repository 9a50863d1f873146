import { existsSync, mkdirSync, readFileSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import type { LinuxContainerResources } from '../../generated/runtime/v1/api.js';
import { sendSignal } from './process-tree.js';
import { shellQuote } from './shell-quote.js';

export type Controller = 'memory' | 'cpu' | 'pids';

interface Hierarchy {
  readonly mount: string;
  readonly version: 1 | 2;
}

/** Where cgroups can be made on this machine. */
export interface CgroupLayout {
  /** The hierarchy whose groups say which process belongs to which container. */
  readonly tracking: Hierarchy;
  readonly hierarchies: readonly Hierarchy[];
  /** Where a resource can be limited. */
  readonly controllers: ReadonlyMap<Controller, Hierarchy>;
}

/** The group under which sandboxes live unless their config names an existing one. */
const OWN_PARENT = 'rx-embedded';

export const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

const tryWrite = (path: string, value: string): boolean => {
  try {
    writeFileSync(path, value);
    return true;
  } catch {
    return false;
  }
};

const CONTROLLERS: readonly Controller[] = ['memory', 'cpu', 'pids'];

/** Whether a process can really be put into a new group of the hierarchy: made, joined, left and removed again. */
const isUsable = ({ mount }: Hierarchy): boolean => {
  const probe = join(mount, `${OWN_PARENT}-probe-${process.pid}`);
  try {
    mkdirSync(probe);
  } catch {
    return false;
  }
  try {
    execFileSync('/bin/sh', ['-c', `echo 0 > ${shellQuote(join(probe, 'cgroup.procs'))}`], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  } finally {
    rmdirSync(probe);
  }
};

/** Finds out by trying. Undefined when no hierarchy can be written. */
export const probeCgroups = (): CgroupLayout | undefined => {
  const mounts = (readText('/proc/self/mounts') ?? '').split('\n').map((line) => line.split(' '));
  const v2 = mounts
    .filter(([, , type]) => type === 'cgroup2')
    .map(([, mount = '']): Hierarchy => ({ mount, version: 2 }))
    .find(isUsable);
  const v1 = (name: string): Hierarchy | undefined =>
    mounts
      .filter(([, , type, options = '']) => type === 'cgroup' && options.split(',').includes(name))
      .map(([, mount = '']): Hierarchy => ({ mount, version: 1 }))
      .find(isUsable);
  const controllers = new Map<Controller, Hierarchy>();
  const inV2 = (v2 && readText(join(v2.mount, 'cgroup.controllers'))?.trim().split(' ')) ?? [];
  if (v2) for (const name of inV2) tryWrite(join(v2.mount, 'cgroup.subtree_control'), `+${name}`);
  const enabled = (v2 && readText(join(v2.mount, 'cgroup.subtree_control'))?.trim().split(' ')) ?? [];
  for (const name of CONTROLLERS) {
    const hierarchy = v2 && enabled.includes(name) ? v2 : v1(name);
    if (hierarchy) controllers.set(name, hierarchy);
  }
  const tracking = v2 ?? controllers.get('pids') ?? v1('name=systemd') ?? controllers.get('memory');
  if (!tracking) return undefined;
  const hierarchies = [tracking, ...controllers.values()].filter(
    (hierarchy, index, all) => all.findIndex(({ mount }) => mount === hierarchy.mount) === index,
  );
  return { tracking, hierarchies, controllers };
};

/** Makes the directory, again if a neighbour removed the parent in between. */
const makeDirectory = (path: string): void => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      mkdirSync(path, { recursive: true });
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
};

const removeTree = (path: string): void => {
  try {
    for (const entry of readdirSync(path, { withFileTypes: true }))
      if (entry.isDirectory()) removeTree(join(path, entry.name));
    rmdirSync(path);
  } catch {
    // Gone already, or a process is still leaving it; removal of the sandbox tries again.
  }
};

const pidsBelow = (path: string): number[] => {
  const own = (readText(join(path, 'cgroup.procs')) ?? '').split('\n').filter(Boolean).map(Number);
  try {
    const below = readdirSync(path, { withFileTypes: true }).filter((entry) => entry.isDirectory());
    return [...own, ...below.flatMap(({ name }) => pidsBelow(join(path, name)))];
  } catch {
    return own;
  }
};

/** One group in every hierarchy in use: `<parent>/<sandbox id>[/<name>]`. */
export class Cgroup {
  private constructor(
    private readonly layout: CgroupLayout,
    private readonly parent: string,
    private readonly path: string,
  ) {}

  /** The group of a sandbox. A wanted parent that does not exist in a hierarchy is replaced by the runtime's own. */
  static ofSandbox(layout: CgroupLayout, parent: string, sandboxId: string): Cgroup {
    return new Cgroup(layout, parent, sandboxId);
  }

  child(name: string): Cgroup {
    return new Cgroup(this.layout, this.parent, join(this.path, name));
  }

  private directory({ mount }: Hierarchy): string {
    const wanted = this.parent !== '' && existsSync(join(mount, this.parent)) ? this.parent : OWN_PARENT;
    return join(mount, wanted, this.path);
  }

  create(): void {
    for (const hierarchy of this.layout.hierarchies) {
      const directory = this.directory(hierarchy);
      makeDirectory(directory);
      if (hierarchy.version === 2 && hierarchy === this.layout.tracking && this.path.split('/').length === 2) {
        const names = [...this.layout.controllers]
          .filter(([, { version }]) => version === 2)
          .map(([name]) => `+${name}`);
        if (names.length > 0)
          for (const above of [join(directory, '../..'), join(directory, '..')])
            tryWrite(join(above, 'cgroup.subtree_control'), names.join(' '));
      }
    }
  }

  /** Shell lines with which a process puts itself in. */
  joinScript(): string {
    return this.layout.hierarchies
      .map((hierarchy) => `echo 0 > ${shellQuote(join(this.directory(hierarchy), 'cgroup.procs'))}`)
      .join('\n');
  }

  pids(): number[] {
    return pidsBelow(this.directory(this.layout.tracking));
  }

  /** SIGKILL to all that is in it now; a process that is just forking may need a second call without `cgroup.kill`. */
  kill(): void {
    const killFile = join(this.directory(this.layout.tracking), 'cgroup.kill');
    if (existsSync(killFile) && tryWrite(killFile, '1')) return;
    for (const pid of this.pids()) sendSignal(pid, 'SIGKILL');
  }

  remove(): void {
    for (const hierarchy of this.layout.hierarchies) removeTree(this.directory(hierarchy));
    if (this.path.includes('/')) return;
    for (const { mount } of this.layout.hierarchies)
      try {
        rmdirSync(join(mount, OWN_PARENT));
      } catch {
        // Other sandboxes live there.
      }
  }

  private file(controller: Controller, name: string): string | undefined {
    const hierarchy = this.layout.controllers.get(controller);
    return hierarchy && join(this.directory(hierarchy), name);
  }

  private version(controller: Controller): 1 | 2 | undefined {
    return this.layout.controllers.get(controller)?.version;
  }

  /** Applies what can be applied, and says in words what could not. */
  limit(resources: LinuxContainerResources): string[] {
    const problems: string[] = [];
    const set = (controller: Controller, names: { readonly v1: string; readonly v2: string }, v1: string, v2 = v1) => {
      const version = this.version(controller);
      const path = this.file(controller, version === 2 ? names.v2 : names.v1);
      const value = version === 2 ? v2 : v1;
      if (path === undefined) problems.push(`${names.v2}=${v2}: no ${controller} controller`);
      else if (!tryWrite(path, value)) problems.push(`${path}: the kernel refused ${value}`);
    };
    const { memoryLimitInBytes, cpuQuota, cpuPeriod, cpuShares, unified } = resources;
    if (memoryLimitInBytes > 0n)
      set('memory', { v1: 'memory.limit_in_bytes', v2: 'memory.max' }, String(memoryLimitInBytes));
    if (cpuQuota !== 0n) {
      const period = cpuPeriod > 0n ? cpuPeriod : 100_000n;
      if (this.version('cpu') === 1) set('cpu', { v1: 'cpu.cfs_period_us', v2: 'cpu.max' }, String(period));
      const quota = cpuQuota > 0n ? String(cpuQuota) : 'max';
      set('cpu', { v1: 'cpu.cfs_quota_us', v2: 'cpu.max' }, String(cpuQuota), `${quota} ${period}`);
    }
    if (cpuShares > 0n) {
      // The usual mapping of shares 2..262144 to weights 1..10000.
      const weight = 1n + ((cpuShares - 2n) * 9999n) / 262_142n;
      set('cpu', { v1: 'cpu.shares', v2: 'cpu.weight' }, String(cpuShares), String(weight < 1n ? 1n : weight));
    }
    const { cpusetCpus, cpusetMems, memorySwapLimitInBytes, hugepageLimits } = resources;
    if (cpusetCpus + cpusetMems !== '') problems.push(`cpuset ${cpusetCpus}/${cpusetMems}: not applied`);
    if (memorySwapLimitInBytes > 0n) problems.push(`memory_swap_limit_in_bytes=${memorySwapLimitInBytes}: not applied`);
    for (const { pageSize, limit } of hugepageLimits)
      if (limit > 0n) problems.push(`hugetlb.${pageSize}=${limit}: not applied`);
    for (const [name, value] of Object.entries(unified)) {
      const controller = CONTROLLERS.find((known) => name.startsWith(`${known}.`));
      if (controller && (this.version(controller) === 2 || name === 'pids.max'))
        set(controller, { v1: name, v2: name }, value);
      else problems.push(`${name}=${value}: no such setting here`);
    }
    return problems;
  }

  wasOutOfMemory(): boolean {
    const path = this.file('memory', this.version('memory') === 2 ? 'memory.events' : 'memory.oom_control');
    const count = path && /^oom_kill (\d+)/m.exec(readText(path) ?? '')?.[1];
    return count !== undefined && Number(count) > 0;
  }

  /** Nanoseconds of CPU time since the group was made; undefined where this hierarchy does not count them. */
  cpuNs(): bigint | undefined {
    const { tracking } = this.layout;
    const usec = /^usage_usec (\d+)/m.exec(readText(join(this.directory(tracking), 'cpu.stat')) ?? '')?.[1];
    return usec === undefined ? undefined : BigInt(usec) * 1000n;
  }

  /** Bytes in use and the part of them that the kernel would not drop first; undefined without a memory controller. */
  memory(): { readonly usage: bigint; readonly workingSet: bigint } | undefined {
    const v2 = this.version('memory') === 2;
    const usage = readText(this.file('memory', v2 ? 'memory.current' : 'memory.usage_in_bytes') ?? '');
    const stat = readText(this.file('memory', 'memory.stat') ?? '');
    if (usage === undefined || stat === undefined) return undefined;
    const inactive = BigInt((v2 ? /^inactive_file (\d+)/m : /^total_inactive_file (\d+)/m).exec(stat)?.[1] ?? 0);
    const used = BigInt(usage.trim());
    return { usage: used, workingSet: used > inactive ? used - inactive : 0n };
  }
}
