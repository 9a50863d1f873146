import { generateClockHistory } from './generate-clock-history.js';
import { generateClusterHistory } from './generate-cluster-history.js';
import { generateHistory } from './generate-history.js';
import { generatePressureHistory } from './generate-pressure-history.js';
import { generatePowerHistory } from './generate-power-history.js';
import { generateShutdownHistory } from './generate-shutdown-history.js';
import type { History } from './history.js';

/** The families of seeds: a node, a node of a cluster, wrong clocks, losses of power, shutdowns, shortages. A seed has another history in each. */
export type HistoryKind = 'node' | 'cluster' | 'clocks' | 'power' | 'shutdowns' | 'pressure';

/** The history of a seed, by its family. */
export const GENERATE: Readonly<Record<HistoryKind, (seed: number) => History>> = {
  node: generateHistory,
  cluster: generateClusterHistory,
  clocks: generateClockHistory,
  power: generatePowerHistory,
  shutdowns: generateShutdownHistory,
  pressure: generatePressureHistory,
};
