/** A process that the kernel has ended because memory ran out. */
export interface OomKill {
  readonly process: string;
  readonly pid: number;
  /** The memory of the machine ran out, not that of a cgroup. */
  readonly isOfSystem: boolean;
}

const KILLED = /\bKilled process (\d+) \((.+?)\)(?=[ ,]|$)/;
/** Older kernels say the reason in the line before. */
const OF_CGROUP = 'Memory cgroup out of memory';

/**
 * Returns the kills in the records of the kernel's log, oldest first. A record is a line of `/dev/kmsg`: numbers, `;`, and the message.
 *
 * Source: mm/oom_kill.c __oom_kill_process; pkg/kubelet/oom/oom_watcher_linux.go and its parser in cAdvisor
 */
export const oomKills = (records: readonly string[]): readonly OomKill[] => {
  const messages = records.map((record) => record.slice(record.indexOf(';') + 1));
  return messages.flatMap((message, index) => {
    const [, pid, process] = KILLED.exec(message) ?? [];
    if (pid === undefined || process === undefined) return [];
    const reason = message.startsWith('Killed') ? messages[index - 1] : message;
    return [{ process, pid: Number(pid), isOfSystem: !reason?.startsWith(OF_CGROUP) }];
  });
};

/** Source: pkg/kubelet/oom/oom_watcher_linux.go */
export const systemOomMessage = ({ process, pid }: OomKill): string =>
  `System OOM encountered, victim process: ${process}, pid: ${pid}`;
