/**
 * The processes in a `cgroup.procs`. The file has a 0 for a process of an outer PID namespace, and for one that is
 * reaped meanwhile; kill(2) takes 0 for the process group of the caller. Process 1 is never a process of a container.
 */
export const pidsInCgroup = (text: string): readonly number[] =>
  text
    .split('\n')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 1);
