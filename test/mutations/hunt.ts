import { parentPort, workerData } from 'node:worker_threads';
import { generateHistory } from '../../src/sim/histories/generate-history.js';
import { runHistory } from '../../src/sim/histories/run-history.js';
import type { Hunted, HuntOrder } from './hunt-order.js';

// The entry of a bundle that runs in a worker: seeds in order, until one violates an invariant.
const { seeds } = workerData as HuntOrder;
let hunted: Hunted = { seeds: seeds.length };
for (const [index, seed] of seeds.entries()) {
  const [violation] = runHistory(generateHistory(seed)).violations;
  if (!violation) continue;
  hunted = { seeds: index + 1, found: { seed, violation } };
  break;
}
parentPort?.postMessage(hunted);
