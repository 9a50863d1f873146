import type { SignalObservation, SignalObservations, PodFigures } from '../../src/model/eviction/figures.js';
import type { Threshold } from '../../src/model/eviction/thresholds.js';

export const MI = 1024 * 1024;

/** A hard threshold of memory, in MiB. */
export const memoryBelow = (mebibytes: number, over: Partial<Threshold> = {}): Threshold => ({
  signal: 'memory.available',
  value: { amount: mebibytes * MI, format: 'BinarySI' },
  gracePeriodMs: 0,
  ...over,
});

/** Of a machine with 1 GiB. */
export const memory = (mebibytes: number, timeMs = 0): { readonly 'memory.available': SignalObservation } => ({
  'memory.available': { available: mebibytes * MI, capacity: 1024 * MI, timeMs },
});

/** A disk of 1000 bytes and 100 inodes. */
export const disk = (available: number, inodesFree = 100, timeMs = 0): SignalObservations => ({
  'nodefs.available': { available, capacity: 1_000, timeMs },
  'nodefs.inodesFree': { available: inodesFree, capacity: 100, timeMs },
});

/** The figures of a pod with one container `main` and nothing else. */
export const figuresOf = (uid: string, over: Partial<PodFigures> = {}): PodFigures => ({
  uid,
  containers: [],
  volumes: [],
  ...over,
});
