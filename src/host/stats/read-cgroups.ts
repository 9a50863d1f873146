import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { defer } from 'rxjs';
import type { CgroupMounts } from '../../model/cgroups/cgroup-mounts.js';
import { errorText } from '../../model/cri/cri-error.js';
import { cgroupUsage, type UsageDetail, usageFiles } from '../../model/stats/cgroup-usage.js';
import type { NetworkFigures } from '../../model/stats/node-sample.js';
import { parseNetDev } from '../../model/stats/proc-files.js';
import { pidsInCgroup } from '../../processes/cgroup-procs.js';
import type { CgroupReading, ReadCgroup, WantedCgroup } from '../../model/stats/readings.js';
import type { UsageReader } from '../../streams/ports/usage-reader.js';
import { cgroupIndex, type CgroupPaths } from './cgroup-index.js';
import { inSlices } from './in-slices.js';
import { openFiles } from './open-files.js';

export interface ReadCgroupsOptions {
  readonly mounts: CgroupMounts;
  /** The directory of the process files. */
  readonly proc: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a clock that is never set. `now` unless given. */
  readonly steadyNow?: () => number;
  /** Reads a file. `readFileSync` unless given. */
  readonly read?: (path: string) => string;
}

/** Reads cgroups of both versions, synchronously in slices: the kernel answers from memory. */
export const readCgroups = ({
  mounts,
  proc,
  now,
  steadyNow = now,
  read = (path) => readFileSync(path, 'utf8'),
}: ReadCgroupsOptions): UsageReader['cgroups'] => {
  const trees = mounts.hierarchies.filter((tree) => usageFiles(tree, 'full').length > 0);
  const index = cgroupIndex(trees, steadyNow);
  /** Files that some cgroups lack. An exception costs more than the read of a file. */
  const sometimesMissing = new Set<string>();

  const readText = (directory: string, file: string, problems: string[]): string | undefined => {
    // `join` costs as much as the read.
    const path = `${directory}/${file}`;
    try {
      if (sometimesMissing.has(file) && statSync(path, QUIETLY) === undefined) return undefined;
      return read(path);
    } catch (error) {
      const code = codeOf(error);
      if (code === 'ENOENT') sometimesMissing.add(file);
      if (!IS_UNKNOWN.has(code)) problems.push(`${path}: ${errorText(error)}`);
      return undefined;
    }
  };

  const readOne = async (
    paths: CgroupPaths,
    wanted: WantedCgroup,
    detail: UsageDetail,
    problems: string[],
    pause: () => Promise<void>,
  ) => {
    const texts = { v1: {} as Record<string, string>, v2: {} as Record<string, string> };
    const timeMs = now();
    for (const tree of trees) {
      const path = paths.get(tree.mountPoint);
      if (path === undefined) continue;
      const directory = join(tree.mountPoint, path);
      for (const file of usageFiles(tree, detail)) {
        const text = readText(directory, file, problems);
        if (text !== undefined) texts[tree.version === 2 ? 'v2' : 'v1'][file] = text;
      }
    }
    if (Object.keys(texts.v1).length + Object.keys(texts.v2).length === 0) return undefined;
    const pids = wanted.hasProcesses ? pidsOf(paths) : undefined;
    const sample: ReadCgroup = {
      id: idOf(paths),
      timeMs,
      usage: cgroupUsage(texts),
      processes: pids?.length || undefined,
      network: pids?.[0] === undefined ? undefined : networkOf(proc, pids[0], timeMs),
      openFiles: pids && detail === 'full' ? await openFiles(proc, pids, pause) : undefined,
      createdAtMs: wanted.hasCreation ? createdAt(paths) : undefined,
    };
    return sample;
  };

  /**
   * The lowest time of the directories, and of a file in each: the time of a directory may change with every cgroup that is made in it.
   *
   * Source: github.com/google/cadvisor container/common/helpers.go GetSpec
   */
  const createdAt = (paths: CgroupPaths): number | undefined => {
    const times = trees.flatMap(({ mountPoint, version }) => {
      const path = paths.get(mountPoint);
      if (path === undefined) return [];
      const directory = join(mountPoint, path);
      const file = join(directory, version === 2 ? 'cgroup.events' : 'cgroup.clone_children');
      return [directory, file].flatMap((each) => timeOf(each) ?? []);
    });
    return times.length === 0 ? undefined : Math.min(...times);
  };

  /** The tree with most processes: on a hybrid machine some cgroups are empty in some trees. */
  const pidsOf = (paths: CgroupPaths): readonly number[] =>
    trees
      .map(({ mountPoint }) => {
        const path = paths.get(mountPoint);
        return path === undefined ? [] : pidsBelow(join(mountPoint, path), 0);
      })
      .reduce((most, pids) => (pids.length > most.length ? pids : most), []);

  /** The path of the memory tree, or of the only one. */
  const idOf = (paths: CgroupPaths): string => {
    const memory = trees.find(({ controllers }) => controllers.includes('memory'));
    return (memory && paths.get(memory.mountPoint)) ?? [...paths.values()][0] ?? '/';
  };

  const pathsOf = async (wanted: readonly WantedCgroup[]): Promise<ReadonlyMap<string, CgroupPaths>> => {
    const fixed = wanted.flatMap(({ key }) =>
      key.startsWith('/') ? [[key, new Map(trees.map(({ mountPoint }) => [mountPoint, key]))] as const] : [],
    );
    const found = await index.find(wanted.flatMap(({ key }) => (key.startsWith('/') ? [] : [key])));
    return new Map<string, CgroupPaths>([...fixed, ...found]);
  };

  return (wanted, detail) =>
    defer(async (): Promise<CgroupReading> => {
      const problems: string[] = [];
      const cgroups = new Map<string, ReadCgroup>();
      const paths = await pathsOf(wanted);
      const pause = inSlices();
      for (const each of wanted) {
        const found = paths.get(each.key);
        const sample = found && (await readOne(found, each, detail, problems, pause));
        if (sample) cgroups.set(each.key, sample);
        else if (found) index.forget(each.key);
        await pause();
      }
      return { cgroups, problems };
    });
};

const QUIETLY = { throwIfNoEntry: false } as const;

/** The cgroup ended, or the kernel does not count this: a machine without pressure stall information has its files. */
const IS_UNKNOWN: ReadonlySet<unknown> = new Set(['ENOENT', 'ENODEV', 'ENOTDIR', 'EOPNOTSUPP']);
const codeOf = (error: unknown): unknown => (error as NodeJS.ErrnoException).code;

/** The time of the last change in Unix milliseconds; undefined for a file that is not there. */
const timeOf = (path: string): number | undefined => {
  try {
    return statSync(path, QUIETLY)?.mtimeMs;
  } catch {
    return undefined;
  }
};

const MOST_LEVELS = 5;

/** The processes of a cgroup; those of the cgroups below only if it has none itself. */
const pidsBelow = (directory: string, depth: number): readonly number[] => {
  try {
    const own = pidsInCgroup(readFileSync(join(directory, 'cgroup.procs'), 'utf8'));
    if (own.length > 0 || depth === MOST_LEVELS) return own;
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .flatMap(({ name }) => pidsBelow(join(directory, name), depth + 1));
  } catch {
    return [];
  }
};

/** Undefined also if the process ended. */
const networkOf = (proc: string, pid: number, timeMs: number): NetworkFigures | undefined => {
  try {
    if (readlinkSync(join(proc, String(pid), 'ns/net')) === readlinkSync(join(proc, 'self/ns/net'))) return undefined;
    const interfaces = parseNetDev(readFileSync(join(proc, String(pid), 'net/dev'), 'utf8'));
    const [first] = interfaces;
    const named = interfaces.find(({ name }) => name === POD_INTERFACE) ?? first;
    return { timeMs, defaultInterface: named?.name, interfaces };
  } catch {
    return undefined;
  }
};

/** Source: pkg/kubelet/stats/helper.go defaultNetworkInterfaceName */
const POD_INTERFACE = 'eth0';
