import { sendSignal } from '../../../processes/send-signal.js';
import { errnoOf, isShortage, readdirSync, readIfThere, readlinkSync } from '../machine/machine.js';

export { sendSignal };

/** Identifies a process: its ID, and its start in clock ticks since boot, since IDs are reused. */
export interface ProcessId {
  readonly pid: number;
  readonly startTime: string;
}

interface ProcessStat extends ProcessId {
  /** It runs nothing any more: a zombie, or on its way to become one. */
  readonly hasEnded: boolean;
  readonly parent: number;
  readonly session: number;
}

/**
 * Parses a line of `/proc/<pid>/stat`. The name in parentheses may contain any character, so fields count from the last
 * `)`.
 */
export const parseStat = (line: string): ProcessStat | undefined => {
  const fields = line.slice(line.lastIndexOf(')') + 2).split(' ');
  const pid = Number.parseInt(line, 10);
  const [state, parent, , session, , , flags] = fields;
  const startTime = fields[19];
  if (!Number.isInteger(pid) || state === undefined || startTime === undefined) return undefined;
  const hasEnded = state === 'Z' || state === 'X' || (Number(flags) & PF_EXITING) !== 0;
  return { pid, hasEnded, parent: Number(parent), session: Number(session), startTime };
};

/**
 * The flag of a process that ends. The first process of a PID namespace sleeps with it until every zombie of the namespace has been
 * reaped, which may take seconds where the first process of the machine reaps slowly.
 *
 * Source: linux include/linux/sched.h, kernel/pid_namespace.c zap_pid_ns_processes
 */
const PF_EXITING = 0x4;

/** Errors, here and below: the kernel cannot report it. This never means that a process is gone. */
const statOf = (pid: number): ProcessStat | undefined => {
  const line = readIfThere(`/proc/${pid}/stat`);
  return line === undefined ? undefined : parseStat(line);
};

/** For reads of all processes: those that /proc hides from this user (`hidepid`) belong to another user. */
const unlessHidden = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (['EACCES', 'EPERM'].includes(errnoOf(error))) return undefined;
    throw error;
  }
};

export const processId = (pid: number): ProcessId | undefined => {
  const stat = statOf(pid);
  return stat && { pid, startTime: stat.startTime };
};

/** Whether exactly this process runs; neither a zombie does, nor a process that ends. */
export const isAlive = ({ pid, startTime }: ProcessId): boolean => {
  const stat = statOf(pid);
  return stat?.startTime === startTime && !stat.hasEnded;
};

const allPids = (): number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);

/**
 * Direct children, oldest first. Reads the kernel's list of children, or every process if the kernel has no such list.
 */
export const childrenOf = (pid: number): number[] => {
  const listed = readIfThere(`/proc/${pid}/task/${pid}/children`);
  if (listed !== undefined) return listed.split(' ').filter(Boolean).map(Number);
  return allPids().filter((candidate) => unlessHidden(() => statOf(candidate))?.parent === pid);
};

/**
 * Every process with the mark, a limit of "file locks" that no kernel since 2.4 enforces. It is inherited over fork and
 * exec and survives setsid and double forks, so it finds daemons that a search by parent or session would miss.
 */
export const markedProcesses = (mark: string): number[] =>
  processesWithMark((found) => found === mark).map(({ pid }) => pid);

/** The same for all wanted marks. */
export const processesWithMark = (
  isWanted: (mark: string) => boolean,
): { readonly pid: number; readonly mark: string }[] =>
  allPids().flatMap((pid) => {
    const mark = markOf(pid);
    if (mark === undefined || !isWanted(mark)) return [];
    return (statOf(pid)?.hasEnded ?? true) ? [] : [{ pid, mark }];
  });

const markOf = (pid: number): string | undefined =>
  /^Max file locks\s+(\d+)/m.exec(unlessHidden(() => readIfThere(`/proc/${pid}/limits`)) ?? '')?.[1];

/**
 * Every process of the session that the leader began, and all their descendants. The kernel does not use its number for
 * another session while a process of the session exists. So a leader that exists identifies the session, and after its
 * end a single process that `isOwn`. No process is returned if there is neither: the number may belong to a stranger.
 */
export const sessionProcesses = (leader: ProcessId, isOwn: (pid: number) => boolean): number[] => {
  const all = allPids().flatMap((pid) =>
    ((stat) => (stat && !stat.hasEnded ? [stat] : []))(unlessHidden(() => statOf(pid))),
  );
  const members = all.filter((stat) => stat.session === leader.pid).map(({ pid }) => pid);
  const found = new Set(members);
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const { pid, parent } of all) if (found.has(parent)) found.add(pid);
  }
  // Read last: a session that is identified now was the same one all the time.
  const holder = processId(leader.pid);
  const isSame = holder ? holder.startTime === leader.startTime : members.some(isOwn);
  return isSame ? [...found] : [];
};

/** Whether an argument, or the target of a standard stream, of the process contains the path. */
export const usesPath = (pid: number, path: string): boolean =>
  [
    () => readIfThere(`/proc/${pid}/cmdline`) ?? '',
    ...[0, 1, 2].map((descriptor) => () => readlinkSync(`/proc/${pid}/fd/${descriptor}`)),
  ].some((read) => {
    try {
      return read().includes(path);
    } catch (error) {
      if (isShortage(error)) throw error;
      return false;
    }
  });

/** Signals exactly this process, never a later one with its ID. */
export const signalProcess = (target: ProcessId, signal: NodeJS.Signals | number): boolean =>
  isAlive(target) && sendSignal(target.pid, signal);

let boot: string | undefined;

/**
 * Changes with every boot of the machine, so that process IDs of an earlier boot are never used. Read once: a later
 * failure to read it must not look like another boot.
 */
export const bootId = (): string => (boot ??= readIfThere('/proc/sys/kernel/random/boot_id')?.trim() ?? '');
