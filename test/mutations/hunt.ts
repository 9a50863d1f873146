import { parentPort, workerData } from 'node:worker_threads';
import { GENERATE } from '../../src/tools/sim/histories/history-kinds.js';
import { runHistory } from '../../src/tools/sim/histories/run-history.js';
import type { Hunted, HuntOrder } from './hunt-order.js';

// The entry of a bundle that runs in a worker: seeds in order, until one violates an invariant.
const { seeds, kind } = workerData as HuntOrder;
let hunted: Hunted = { seeds: seeds.length };
for (const [index, seed] of seeds.entries()) {
  const [violation] = runHistory(GENERATE[kind](seed)).violations;
  if (!violation) continue;
  hunted = { seeds: index + 1, found: { seed, violation } };
  break;
}
parentPort?.postMessage(hunted);
