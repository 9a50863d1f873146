import { readFileSync } from 'node:fs';

/** `CONFIG_HZ` for user space, on every architecture of Node.js. */
const CLOCK_TICK_SECONDS = 0.01;

/** The seconds of CPU of a process, in user space and in the kernel, without its children. */
export const cpuSeconds = (pid: number): number => {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) * CLOCK_TICK_SECONDS;
};

/** The seconds of CPU of the whole machine. */
export const machineCpuSeconds = (): number => {
  const [line = ''] = readFileSync('/proc/stat', 'utf8').split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softirq = 0] = line.split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softirq) * CLOCK_TICK_SECONDS;
};

const memoryMiB = (pid: number, line: 'VmRSS' | 'VmHWM'): number =>
  Number(new RegExp(`${line}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

/** The resident memory of a process now, and at most so far. */
export const residentMiB = (pid: number): number => memoryMiB(pid, 'VmRSS');
export const peakResidentMiB = (pid: number): number => memoryMiB(pid, 'VmHWM');
