import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { CgroupHierarchy } from '../../model/cgroups/cgroup-mounts.js';
import { inSlices } from './in-slices.js';

/** The paths of a cgroup below the mount points, by mount point. They may differ between the trees of cgroup v1. */
export type CgroupPaths = ReadonlyMap<string, string>;

export interface CgroupIndex {
  /** Returns the paths of the keys, after one walk through the trees if some are unknown. */
  readonly find: (keys: readonly string[]) => Promise<ReadonlyMap<string, CgroupPaths>>;
  /** Forgets a cgroup that ended. */
  readonly forget: (key: string) => void;
}

/** Containers with cgroups of their own have deeper trees, which no key names. */
const MOST_LEVELS = 10;
const MOST_DIRECTORIES = 50_000;
/** A runtime without cgroups must not cause a walk with each scrape, in milliseconds. */
export const WALK_AGAIN_MS = 60_000;

/**
 * Finds cgroups by the names of their directories, for every driver and runtime: `pod<uid>`, `kubepods-…-pod<uid>.slice`, `<id>`
 * and `<runtime>-<id>.scope`. Found paths are kept.
 */
export const cgroupIndex = (hierarchies: readonly CgroupHierarchy[], now: () => number): CgroupIndex => {
  let index = new Map<string, Map<string, string>>();
  let walkedAt = -Infinity;
  let missing = new Set<string>();

  const walk = async (): Promise<void> => {
    const found = new Map<string, Map<string, string>>();
    const pause = inSlices();
    for (const { mountPoint } of hierarchies) {
      let level = [''];
      let count = 0;
      for (let depth = 0; depth < MOST_LEVELS && level.length > 0 && count < MOST_DIRECTORIES; depth += 1) {
        const next: string[] = [];
        for (const path of level) {
          for (const name of directoriesIn(join(mountPoint, path))) {
            const below = `${path}/${name}`;
            next.push(below);
            const key = keyOf(name);
            const paths = found.get(key) ?? new Map<string, string>();
            // The shallowest directory counts.
            if (!paths.has(mountPoint)) paths.set(mountPoint, below);
            found.set(key, paths);
          }
          await pause();
        }
        count += next.length;
        level = next;
      }
    }
    index = found;
    walkedAt = now();
  };

  return {
    find: async (keys) => {
      const unknown = keys.filter((key) => !index.has(key));
      const isNews = unknown.some((key) => !missing.has(key));
      if (unknown.length > 0 && (isNews || now() - walkedAt >= WALK_AGAIN_MS)) {
        await walk();
        missing = new Set(unknown.filter((key) => !index.has(key)));
      }
      return new Map(keys.flatMap((key) => (index.has(key) ? [[key, index.get(key)!] as const] : [])));
    },
    forget: (key) => void index.delete(key),
  };
};

/** The key of a directory. In the name of a slice a UID has `_` for `-`. */
const keyOf = (name: string): string => {
  const [, uid] = /-pod([^-]+)\.slice$/.exec(name) ?? [];
  if (uid !== undefined) return `pod${uid.replaceAll('_', '-')}`;
  return name.endsWith('.scope') ? name.slice(name.lastIndexOf('-') + 1, -'.scope'.length) : name;
};

/** The names of the directories in a directory; none if it ended or may not be read. */
const directoriesIn = (path: string): readonly string[] => {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name);
  } catch {
    return [];
  }
};
