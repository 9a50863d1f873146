import { sendSignalOrThrow } from '../../src/processes/send-signal.js';

/**
 * Signals a process that a test or a benchmark has to hit.
 *
 * Errors: there is no such process, it may not be signalled, or `pid` is none of a single process, such as the 0 of an empty file, which would be the process group of
 * the test itself.
 */
export const killProcess = (pid: number | undefined, signal: NodeJS.Signals = 'SIGKILL'): void => {
  if (pid === undefined || !Number.isInteger(pid) || pid <= 1) throw new Error(`no process to signal: ${pid}`);
  if (!sendSignalOrThrow(pid, signal)) throw new Error(`there is no process ${pid} to send ${signal} to`);
};
