import { readFileSync } from 'node:fs';
import { opendir, stat, statfs } from 'node:fs/promises';
import { Counter, Gauge, type Registry } from 'prom-client';
import {
  parseNamespaceTraffic,
  parseSoftLimit,
  parseVirtualMemory,
  type SoftLimit,
} from '../../model/stats/process-files.js';

/** The type of the file system of `/proc`. Source: linux/magic.h PROC_SUPER_MAGIC */
const PROC_MAGIC = 0x9fa0;
/** Upstream gives the largest number of 64 bits for a limit that is none. Source: github.com/prometheus/procfs proc_limits.go parseUint */
const UNLIMITED = 2 ** 64;

/**
 * The metrics of the agent's own process, read at each scrape. A figure that cannot be read has no series.
 *
 * Source: github.com/prometheus/client_golang prometheus/process_collector_procfsenabled.go processCollect
 */
export const registerProcess = (registry: Registry, directory = '/proc/self'): void => {
  const registers = [registry];
  /** The value of a file; undefined if it is not there or has none. */
  const read = <T>(file: string, parse: (text: string) => T | undefined): T | undefined => {
    try {
      return parse(readFileSync(`${directory}/${file}`, 'utf8'));
    } catch {
      return undefined;
    }
  };
  const gauge = (name: string, help: string, value: () => number | undefined | Promise<number | undefined>): void => {
    new Gauge({
      name,
      help,
      registers,
      async collect() {
        const now = await value();
        if (now === undefined) this.remove();
        else this.set(now);
      },
    });
  };
  const counter = (name: string, help: string, value: () => number | undefined): void => {
    new Counter({
      name,
      help,
      registers,
      collect() {
        const now = value();
        this.remove();
        if (now !== undefined) this.inc(now);
      },
    });
  };
  const limit = (of: SoftLimit) => (): number | undefined => {
    const value = read('limits', (text) => parseSoftLimit(text, of));
    return value === 'unlimited' ? UNLIMITED : value;
  };

  counter('process_cpu_seconds_total', 'User and system CPU seconds.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  gauge('process_virtual_memory_bytes', 'Virtual memory.', () => read('stat', parseVirtualMemory));
  gauge('process_virtual_memory_max_bytes', 'The limit of virtual memory; 2^64 for none.', limit('address space'));
  gauge('process_open_fds', 'Open file descriptors.', () => countDescriptors(`${directory}/fd`));
  gauge('process_max_fds', 'The limit of open file descriptors; 2^64 for none.', limit('open files'));
  counter(
    'process_network_receive_bytes_total',
    'Bytes that arrived by IP in the network namespace of the process.',
    () => read('net/netstat', parseNamespaceTraffic)?.received,
  );
  counter(
    'process_network_transmit_bytes_total',
    'Bytes that were sent by IP from the network namespace of the process.',
    () => read('net/netstat', parseNamespaceTraffic)?.transmitted,
  );
  registerStartTime(registry);
};

export const registerStartTime = (registry: Registry): void =>
  new Gauge({ name: 'process_start_time_seconds', help: 'Unix time of the start.', registers: [registry] }).set(
    startTimeSeconds(),
  );

/** Linux reports the start in ticks since boot; without /proc, Node's `uptime` is close enough. */
const startTimeSeconds = (): number => {
  try {
    const text = readFileSync('/proc/self/stat', 'utf8');
    const ticks = Number(text.slice(text.lastIndexOf(')') + 2).split(' ')[19]);
    const bootedAt = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]);
    return bootedAt + ticks / 100;
  } catch {
    return Date.now() / 1000 - process.uptime();
  }
};

/**
 * Linux from 6.2 on has the count as the size of the directory. Before that each name is read, in batches and outside the
 * event loop: a process may have a million. Undefined if the directory cannot be read.
 *
 * Source: github.com/prometheus/procfs proc.go FileDescriptorsLen
 */
const countDescriptors = async (directory: string): Promise<number | undefined> => {
  try {
    const [{ size }, { type }] = await Promise.all([stat(directory), statfs(directory)]);
    if (type === PROC_MAGIC && size > 0) return size;
    const links = await opendir(directory, { bufferSize: 1000 });
    try {
      let count = 0;
      while (await links.read()) count += 1;
      return count;
    } finally {
      await links.close();
    }
  } catch {
    return undefined;
  }
};
