import { EMPTY, of } from 'rxjs';
import type { ProbeRecords } from '../ports.js';
import type { PodProbes } from './prober.js';

/** Nobody probes: containers that run have started and are ready. */
export const noProbes: PodProbes = {
  add: () => undefined,
  stopLivenessAndStartup: () => undefined,
  remove: () => undefined,
  findings: () => ({ hasStarted: () => true, isReady: () => true }),
  statusStored: () => undefined,
  results: () => undefined,
};

/** Remembers nothing across restarts of the agent. */
export const noProbeRecords: ProbeRecords = { read: () => of([]), write: () => EMPTY };
