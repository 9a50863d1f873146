/** The limits of a process whose soft values are read. */
export type SoftLimit = 'open files' | 'address space';

/** A soft limit in `/proc/<pid>/limits`. Source: github.com/prometheus/procfs proc_limits.go */
export const parseSoftLimit = (text: string, of: SoftLimit): number | 'unlimited' | undefined => {
  const [, soft] = new RegExp(`^Max ${of}\\s+(unlimited|\\d+)\\s`, 'm').exec(text) ?? [];
  if (soft === undefined || soft === 'unlimited') return soft;
  return Number(soft);
};

/** The virtual memory in `/proc/<pid>/stat`, in bytes. The name of the command may have blanks and brackets. */
export const parseVirtualMemory = (text: string): number | undefined => {
  const bytes = text.slice(text.lastIndexOf(')') + 2).split(' ')[20];
  return bytes !== undefined && /^\d+$/.test(bytes) ? Number(bytes) : undefined;
};

/** All bytes by IP in a network namespace since it was made. */
export interface NamespaceTraffic {
  readonly received: number;
  readonly transmitted: number;
}

/**
 * The traffic in `/proc/<pid>/net/netstat`: a line of names and one of values for each prefix. A name that is missing counts as 0;
 * undefined without any line of `IpExt`.
 *
 * Source: github.com/prometheus/procfs proc_netstat.go, InOctets and OutOctets
 */
export const parseNamespaceTraffic = (text: string): NamespaceTraffic | undefined => {
  const [names, values] = text
    .split('\n')
    .filter((line) => line.startsWith('IpExt: '))
    .map((line) => line.split(' '));
  if (!names || !values) return undefined;
  const value = (name: string): number => Number(values[names.indexOf(name)] ?? 0);
  return { received: value('InOctets'), transmitted: value('OutOctets') };
};
