import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { LinuxContainerResources } from '../../../generated/runtime/v1/api.js';
import { type BytePath, bytePath, osPath } from '../../../processes/byte-path.js';
import { pidsInCgroup } from '../../../processes/cgroup-procs.js';
import { checkDelayMs, delayMs } from '../machine/clock.js';
import {
  errnoOf,
  isGone,
  isShortage,
  isThere,
  makeDirectories,
  mkdirSync,
  readIfThere,
  readdirSync,
  rmdirSync,
  runProcess,
  writeFileSync,
} from '../machine/machine.js';
import { SHARED_GROUP } from '../machine/instance.js';
import { processId, sendSignal } from './process-tree.js';
import { shellQuote } from '../machine/shell-quote.js';

export type Controller = 'memory' | 'cpu' | 'pids';

export interface Hierarchy {
  readonly mount: string;
  readonly version: 1 | 2;
}

/** The hierarchies of this machine in which cgroups can be made. */
export interface CgroupLayout {
  /** The hierarchy that tracks which process belongs to which container. */
  readonly tracking: Hierarchy;
  readonly hierarchies: readonly Hierarchy[];
  /** The hierarchy of each resource that can be limited. */
  readonly controllers: ReadonlyMap<Controller, Hierarchy>;
}

/** The text of a group's file; undefined for a missing file. Errors: the file cannot be read. */
const readText = (path: string | Buffer): string | undefined => {
  try {
    return readIfThere(path);
  } catch (error) {
    // The group was removed after its file was opened.
    if (errnoOf(error) === 'ENODEV') return undefined;
    throw error;
  }
};

/** Returns false if the kernel refuses the value. Errors: the machine has no free memory or descriptors. */
const tryWrite = (path: string, value: string): boolean => {
  try {
    writeFileSync(path, value);
    return true;
  } catch (error) {
    if (isShortage(error)) throw error;
    return false;
  }
};

/**
 * The layout for a group that was made while `tracking` was the tracking hierarchy. The hierarchies in use may have
 * changed since, but the processes of the group can still be read.
 */
export const layoutWith = (layout: CgroupLayout | undefined, tracking: Hierarchy): CgroupLayout => ({
  tracking: layout?.hierarchies.find(({ mount }) => mount === tracking.mount) ?? tracking,
  hierarchies: [
    ...(layout?.hierarchies ?? []).filter(({ mount }) => mount !== tracking.mount),
    layout?.hierarchies.find(({ mount }) => mount === tracking.mount) ?? tracking,
  ],
  controllers: layout?.controllers ?? new Map(),
});

const CONTROLLERS: readonly Controller[] = ['memory', 'cpu', 'pids'];

const PROBE = /^rx-embedded-probe-(\d+)(?:-(\d+)-[0-9a-f]+)?$/;

/** A name that no other probe has, with the process that makes it. */
const probeName = (): string => {
  const startTime = processId(process.pid)?.startTime ?? '0';
  return `rx-embedded-probe-${process.pid}-${startTime}-${randomBytes(8).toString('hex')}`;
};

/** Removes the probes whose makers were killed; earlier versions named them without a start time. */
export const sweepProbes = (mount: string): void => {
  try {
    for (const name of groupsBelow(bytePath(mount))) {
      const [, pid, startTime] = PROBE.exec(name) ?? [];
      if (pid === undefined) continue;
      const maker = processId(Number(pid));
      if (!maker || (startTime !== undefined && startTime !== maker.startTime))
        tryRemoveTree(join(bytePath(mount), name));
    }
  } catch {
    // The next start sweeps them.
  }
};

/** Whether a process can be put into a new group of the hierarchy: the group is made, joined, left and removed. */
const isUsable = ({ mount }: Hierarchy): boolean => {
  sweepProbes(mount);
  const probe = join(mount, probeName());
  try {
    mkdirSync(probe);
  } catch (error) {
    if (isShortage(error)) throw error;
    return false;
  }
  try {
    const script = `echo 0 > ${shellQuote(join(probe, 'cgroup.procs'))}`;
    return runProcess('/bin/sh', ['-c', script], { timeout: 10_000, env: {} }).status === 0;
  } finally {
    tryRemoveTree(bytePath(probe));
  }
};

/** Finds the layout by trying. Undefined if no hierarchy is writable. */
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

/** Makes the directory, again if another process removes the parent meanwhile. */
const makeDirectory = (path: string): void => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      makeDirectories(path);
      return;
    } catch (error) {
      if (attempt === 5) throw error;
    }
  }
};

/** Returns false if a later attempt may succeed: a killed process stays in its group for a moment. */
const tryRemoveTree = (path: BytePath): boolean => {
  try {
    const below = groupsBelow(path).map((name) => tryRemoveTree(join(path, name)));
    if (below.includes(false)) return false;
    rmdirSync(osPath(path));
    return true;
  } catch (error) {
    return errnoOf(error) !== 'EBUSY' && !isShortage(error);
  }
};

const REMOVAL_MS = 1_000;

/**
 * Resolves when the group is removed, or at the end of a second. An empty group that stays does no harm; removal of the
 * sandbox and the next start try again.
 */
const removeTree = async (path: BytePath): Promise<void> => {
  let waitedMs = 0;
  for (let check = 1; !tryRemoveTree(path) && waitedMs < REMOVAL_MS; check += 1) {
    await delayMs(checkDelayMs(check));
    waitedMs += checkDelayMs(check);
  }
};

/** The names of the groups in a group, as bytes: a container may give its groups any. None for a removed group. */
const groupsBelow = (path: BytePath): BytePath[] => {
  try {
    return readdirSync(osPath(path), { withFileTypes: true, encoding: 'latin1' })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch (error) {
    if (isGone(error)) return [];
    throw error;
  }
};

/** Errors: the processes of the group cannot be read. */
const pidsBelow = (path: BytePath): number[] => [
  ...ownPids(path),
  ...groupsBelow(path).flatMap((name) => pidsBelow(join(path, name))),
];

const ownPids = (path: BytePath): readonly number[] => {
  try {
    return pidsInCgroup(readText(osPath(join(path, 'cgroup.procs'))) ?? '');
  } catch (error) {
    // A threaded group that a container made: its processes are listed in an ancestor.
    if (errnoOf(error) === 'EOPNOTSUPP') return [];
    throw error;
  }
};

/** The parent group of a sandbox: the parent in its config if there is one, else `home`, the runtime's own. */
interface CgroupPlace {
  readonly parent: string;
  readonly home: string;
}

/** One group in every hierarchy in use: `<parent>/<sandbox id>[/<name>]`. */
export class Cgroup {
  private constructor(
    private readonly layout: CgroupLayout,
    private readonly place: CgroupPlace,
    private readonly path: string,
  ) {}

  /** The group of a sandbox. A hierarchy without the wanted parent uses the runtime's own group. */
  static ofSandbox(layout: CgroupLayout, place: CgroupPlace, sandboxId: string): Cgroup {
    return new Cgroup(layout, place, sandboxId);
  }

  /** The IDs of all sandboxes with a group below the runtime's own. */
  static sandboxesIn({ hierarchies }: CgroupLayout, home: string): ReadonlySet<string> {
    return new Set(hierarchies.flatMap(({ mount }) => groupsBelow(bytePath(join(mount, home)))));
  }

  child(name: string): Cgroup {
    return new Cgroup(this.layout, this.place, join(this.path, name));
  }

  /**
   * The directory of the sandbox's group. Only a group that does not exist yet depends on the existence of its parent,
   * which may change later.
   */
  private directory({ mount }: Hierarchy): string {
    const { parent, home } = this.place;
    const sandbox = this.path.split('/')[0] ?? '';
    const made = [parent, home].find((above) => above !== '' && isThere(join(mount, above, sandbox)));
    return join(mount, made ?? (parent !== '' && isThere(join(mount, parent)) ? parent : home), this.path);
  }

  exists(): boolean {
    return isThere(this.directory(this.layout.tracking));
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
          for (const above of ['../../..', '../..', '..'].map((up) => join(directory, up)))
            tryWrite(join(above, 'cgroup.subtree_control'), names.join(' '));
      }
    }
  }

  /**
   * Shell lines with which a process joins the group. It must stop if it cannot join, since the runtime could not find
   * it again.
   */
  joinScript(): string {
    return this.layout.hierarchies
      .map((hierarchy) => {
        const line = `echo 0 > ${shellQuote(join(this.directory(hierarchy), 'cgroup.procs'))}`;
        return hierarchy === this.layout.tracking ? `${line} || exit 125` : line;
      })
      .join('\n');
  }

  pids(): number[] {
    return pidsBelow(bytePath(this.directory(this.layout.tracking)));
  }

  /**
   * Sends SIGKILL to all current processes of the group. Without `cgroup.kill`, a process that forks meanwhile needs a
   * second call.
   */
  kill(): void {
    const killFile = join(this.directory(this.layout.tracking), 'cgroup.kill');
    if (isThere(killFile) && tryWrite(killFile, '1')) return;
    for (const pid of this.pids()) sendSignal(pid, 'SIGKILL');
  }

  /** The names of the groups in it. Errors: they cannot be read. */
  names(): readonly string[] {
    return groupsBelow(bytePath(this.directory(this.layout.tracking)));
  }

  /** One attempt to remove it. Returns false if a later attempt may succeed. */
  tryRemove(): boolean {
    try {
      return this.layout.hierarchies
        .map((hierarchy) => tryRemoveTree(bytePath(this.directory(hierarchy))))
        .every(Boolean);
    } catch {
      // The machine cannot report whether it exists.
      return false;
    }
  }

  async remove(): Promise<void> {
    await Promise.all(this.layout.hierarchies.map((hierarchy) => removeTree(bytePath(this.directory(hierarchy)))));
    if (this.path.includes('/')) return;
    for (const { mount } of this.layout.hierarchies)
      try {
        rmdirSync(join(mount, this.place.home));
        rmdirSync(join(mount, SHARED_GROUP));
      } catch {
        // Other sandboxes or other runtimes use the parent.
      }
  }

  private file(controller: Controller, name: string): string | undefined {
    const hierarchy = this.layout.controllers.get(controller);
    return hierarchy && join(this.directory(hierarchy), name);
  }

  private version(controller: Controller): 1 | 2 | undefined {
    return this.layout.controllers.get(controller)?.version;
  }

  /** Applies the limits that this machine supports, and returns one text for each other limit. */
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

  /** The CPU time of the group since it was made, in nanoseconds; undefined if this hierarchy does not count it. */
  cpuNs(): bigint | undefined {
    const { tracking } = this.layout;
    const usec = /^usage_usec (\d+)/m.exec(readText(join(this.directory(tracking), 'cpu.stat')) ?? '')?.[1];
    return usec === undefined ? undefined : BigInt(usec) * 1000n;
  }

  /**
   * The bytes in use, and the working set, which the kernel cannot reclaim easily; undefined without a memory
   * controller.
   */
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
