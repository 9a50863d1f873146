import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { childrenOf, isAlive, type ProcessId, processId } from '../../src/runtime/embedded/confinement/process-tree.js';

const readText = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    // It has ended, or it belongs to another user.
    return '';
  }
};

/** A file of `/proc/<pid>`; empty when the process is gone. */
export const readTextOf = (pid: number, file: 'cmdline' | 'environ' | 'cgroup'): string =>
  readText(`/proc/${pid}/${file}`);

const everyone = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .map(Number);

const alive = (pids: readonly number[]): ProcessId[] =>
  pids.flatMap((pid) => processId(pid) ?? []).filter((process) => isAlive(process));

/** Processes that were started with exactly this variable in their environment. */
export const processesWithVariable = (variable: string): ProcessId[] =>
  alive(everyone().filter((pid) => readTextOf(pid, 'environ').split('\0').includes(variable)));

/**
 * Processes whose arguments, environment or cgroup name one of the texts, with all their descendants. Zombies are not
 * counted.
 */
export const processesNaming = (texts: readonly string[]): ProcessId[] => {
  const found = new Set(
    everyone().filter((pid) => {
      const traces = (['cmdline', 'environ', 'cgroup'] as const).map((name) => readTextOf(pid, name)).join('\n');
      return texts.some((text) => traces.includes(text));
    }),
  );
  for (const pid of found) for (const child of childrenOf(pid)) found.add(child);
  return alive([...found]);
};

/** How a failing assertion shows them. */
export const describeProcess = ({ pid }: ProcessId): string =>
  `${pid} ${readTextOf(pid, 'cmdline').replaceAll('\0', ' ').slice(0, 200)}`;

/** Every cgroup directory that is called by one of the names. */
export const cgroupsCalled = (names: ReadonlySet<string>): string[] => {
  const look = (directory: string, depth: number): string[] =>
    depth === 0 || !existsSync(directory)
      ? []
      : readdirSync(directory, { withFileTypes: true })
          .filter((entry) => entry.isDirectory())
          .flatMap(({ name }) => {
            const path = `${directory}/${name}`;
            return [...(names.has(name) ? [path] : []), ...look(path, depth - 1)];
          });
  return look('/sys/fs/cgroup', 4);
};
