import { readFileSync } from 'node:fs';

/** What `CONFIG_HZ` is for user space on every architecture that Node.js runs on. */
const CLOCK_TICK_SECONDS = 0.01;

/** Seconds of CPU that a process has used, in itself and for itself in the kernel; not that of processes it started. */
export const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_SECONDS;
};

/** Seconds of CPU that the whole machine has used. */
export const machineCpuSeconds = (): number => {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * CLOCK_TICK_SECONDS;
};

const memoryMiB = (pid: number, line: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** What a process has in memory now, and the most that it ever had. */
export const residentMiB = (pid: number): number => memoryMiB(pid, 'VmRSS');
export const peakResidentMiB = (pid: number): number => memoryMiB(pid, 'VmHWM');
