import { appendFileSync, readFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into an agent before its own code: writes the CPU time between two ticks of a timer to a file, that of the thread of the event loop
 * and that of all threads. Waits for a core do not count. A turn that ends between two ticks counts with its neighbours, so both are upper bounds of the work of one turn.
 */
const TICK_MS = 5;
const LEAST_MS = 10;
const file = process.env['CPU_OF_TURNS'];
if (isMainThread && file !== undefined) {
  // Child processes of the agent, such as the runtime, are not measured.
  delete process.env['CPU_OF_TURNS'];
  delete process.env['NODE_OPTIONS'];
  // The first thread has the id of the process. Node.js 20 does not report the CPU time of a thread. The agent closes descriptors that it did
  // not open, so the file is opened each time. Its first number is the CPU time in nanoseconds.
  const loopMs = (): number =>
    Number.parseInt(readFileSync(`/proc/self/task/${process.pid}/schedstat`, 'latin1'), 10) / 1e6;
  const processMs = (): number => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  };
  let [loopBefore, processBefore] = [loopMs(), processMs()];
  setInterval(() => {
    const [loop, all] = [loopMs() - loopBefore, processMs() - processBefore];
    if (all >= LEAST_MS) appendFileSync(file, `${loop.toFixed(1)} ${all.toFixed(1)}\n`);
    [loopBefore, processBefore] = [loopMs(), processMs()];
  }, TICK_MS).unref();
}
