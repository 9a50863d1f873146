import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into an agent before its own code: writes the CPU time of the process between two ticks of a timer to a file. Waits for a core do not
 * count. All threads of the process do, so the time is an upper bound of the work of the event loop.
 */
const TICK_MS = 5;
const LEAST_MS = 10;
const file = process.env['CPU_OF_TURNS'];
if (isMainThread && file !== undefined) {
  // Child processes of the agent, such as the runtime, are not measured.
  delete process.env['CPU_OF_TURNS'];
  delete process.env['NODE_OPTIONS'];
  let before = process.cpuUsage();
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    const ms = (user + system) / 1_000;
    if (ms >= LEAST_MS) appendFileSync(file, `${ms.toFixed(1)}\n`);
  }, TICK_MS).unref();
}
