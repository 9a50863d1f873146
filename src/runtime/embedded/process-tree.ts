import { readFileSync, readdirSync } from 'node:fs';

/** A process for good: its id, and when it started in clock ticks since boot, since ids are used again. */
export interface ProcessId {
  readonly pid: number;
  readonly startTime: string;
}

interface ProcessStat extends ProcessId {
  readonly state: string;
  readonly parent: number;
  readonly session: number;
}

/** Reads a line of `/proc/<pid>/stat`. The name in parentheses may hold anything, so fields count from the last `)`. */
export const parseStat = (line: string): ProcessStat | undefined => {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const pid = Number.parseInt(line, 10);
  const [state, parent, , session] = fields;
  const startTime = fields[19];
  if (!Number.isInteger(pid) || state === undefined || startTime === undefined) return undefined;
  return { pid, state, parent: Number(parent), session: Number(session), startTime };
};

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

const statOf = (pid: number): ProcessStat | undefined => {
  const line = readText(`/proc/${pid}/stat`);
  return line === undefined ? undefined : parseStat(line);
};

export const processId = (pid: number): ProcessId | undefined => {
  const stat = statOf(pid);
  return stat && { pid, startTime: stat.startTime };
};

/** Whether the very process still runs; a zombie does not. */
export const isAlive = ({ pid, startTime }: ProcessId): boolean => {
  const stat = statOf(pid);
  return stat !== undefined && stat.startTime === startTime && stat.state !== 'Z' && stat.state !== 'X';
};

const allPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/** Direct children, oldest first. Asks the kernel for them, or reads every process where it was built without that. */
export const childrenOf = (pid: number): number[] => {
  const listed = readText(`/proc/${pid}/task/${pid}/children`);
  if (listed !== undefined) return listed.split(' ').filter(Boolean).map(Number);
  return allPids().filter((candidate) => statOf(candidate)?.parent === pid);
};

/**
 * Every process that carries the mark, a limit of "file locks" that no kernel since 2.4 enforces. It is inherited over fork
 * and exec and survives setsid and double forks, so it finds the daemons that a search by parent or session would lose.
 */
export const markedProcesses = (mark: string): number[] =>
  allPids().filter((pid) => {
    const limits = readText(`/proc/${pid}/limits`);
    const value = limits && /^Max file locks\s+(\d+)/m.exec(limits)?.[1];
    return value === mark && !['Z', 'X'].includes(statOf(pid)?.state ?? 'X');
  });

/** Every process of the session and all their descendants. */
export const sessionProcesses = (session: number): number[] => {
  const all = allPids().flatMap((pid) =>
    ((stat) => (stat && !['Z', 'X'].includes(stat.state) ? [stat] : []))(statOf(pid)),
  );
  const found = new Set(all.filter((stat) => stat.session === session).map(({ pid }) => pid));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  return [...found];
};

/** Sends the signal; false when there is nobody to receive it. */
export const sendSignal = (pid: number, signal: NodeJS.Signals | number): boolean => {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    return false;
  }
};

/** Signals exactly this process, never a later one with its id. */
export const signalProcess = (target: ProcessId, signal: NodeJS.Signals | number): boolean =>
  isAlive(target) && sendSignal(target.pid, signal);

/** Changes with every boot of the machine, so that process ids of an earlier boot are never believed. */
export const bootId = (): string => readText('/proc/sys/kernel/random/boot_id')?.trim() ?? '';
