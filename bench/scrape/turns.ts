import { appendFileSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';

/**
 * Loaded into an agent before its own code: writes the CPU time of the process between two ticks of a timer to a file, for each tick. Waits
 * for a core do not count; other threads of the process do.
 */
const TICK_MS = 1;
const WRITE_EVERY_MS = 500;
const file = process.env['CPU_OF_TURNS'];
if (isMainThread && file !== undefined) {
  // Child processes of the agent, such as the runtime, are not measured.
  delete process.env['CPU_OF_TURNS'];
  delete process.env['NODE_OPTIONS'];
  let before = process.cpuUsage();
  let turns: number[] = [];
  setInterval(() => {
    const { user, system } = process.cpuUsage(before);
    before = process.cpuUsage();
    turns.push((user + system) / 1_000);
  }, TICK_MS).unref();
  setInterval(() => {
    appendFileSync(file, turns.map((ms) => `${ms.toFixed(2)}\n`).join(''));
    turns = [];
  }, WRITE_EVERY_MS).unref();
}
