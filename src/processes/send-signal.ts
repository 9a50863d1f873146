/** Signal 0 asks whether a process exists. */
type Signal = NodeJS.Signals | number;

/**
 * Whether kill(2) takes the number for a single process. It takes 0 for the process group of the caller, -1 for all
 * processes, and other negative numbers for groups. Process 1 is the machine or the caller itself, and is only asked.
 */
const isSingle = (pid: unknown, signal: Signal): pid is number =>
  Number.isInteger(pid) && (pid as number) >= (signal === 0 ? 1 : 2) && (pid as number) < 2 ** 31;

/**
 * Sends the signal to a single process. Returns false without a signal if there is none of this number, as for 0, -1, 1
 * and NaN. This is the only caller of kill(2). Errors: the process belongs to another user; the signal is unknown.
 */
export const sendSignalOrThrow = (pid: number, signal: Signal): boolean => {
  if (!isSingle(pid, signal)) return false;
  try {
    process.kill(pid, signal);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false;
    throw error;
  }
};

/** The same without errors: returns false for each signal that was not sent. */
export const sendSignal = (pid: number, signal: Signal): boolean => {
  try {
    return sendSignalOrThrow(pid, signal);
  } catch {
    return false;
  }
};

/** Whether there is a process of this number, of any user. A zombie is one. */
export const isProcess = (pid: number): boolean => {
  try {
    return sendSignalOrThrow(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};
