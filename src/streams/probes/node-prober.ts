import { EMPTY, NEVER } from 'rxjs';
import type { PodStatusesView } from '../../model/pod-status/pod-statuses.js';
import { nanosToMillis } from '../../model/pleg/runtime-pod.js';
import type { PodCache } from '../pleg/pod-cache.js';
import type { ProbeHandlers } from '../ports/probe-handlers.js';
import type { ProbeRecords } from '../ports/probe-records.js';
import { noProbeRecords } from '../ports/probe-records.js';
import { noProbes } from './no-probes.js';
import { type Prober, prober, type ProberOptions } from './prober.js';
import { firstWithId } from '../../model/values/indexed-lists.js';

export interface NodeProberOptions extends Omit<
  ProberOptions,
  'handlers' | 'records' | 'statusOf' | 'startedAt' | 'agentStart'
> {
  readonly probeHandlers?: ProbeHandlers;
  readonly probeRecords?: ProbeRecords;
  readonly statuses: Pick<PodStatusesView, 'get'>;
  readonly cache: Pick<PodCache, 'get'>;
}

/** Makes the prober of a node, with the statuses and the cache of the agent. Without handlers it probes nothing. */
export const nodeProber = (options: NodeProberOptions): Prober => {
  const { probeHandlers, probeRecords = noProbeRecords, statuses, cache, scheduler, wallClock } = options;
  if (!probeHandlers) return silentProber;
  return prober({
    ...options,
    handlers: probeHandlers,
    records: probeRecords,
    statusOf: (uid) => statuses.get(uid),
    startedAt: (uid, containerId) => {
      const reading = cache.get(uid);
      const instance = reading.kind === 'status' && firstWithId(reading.status.containers, containerId);
      return instance && instance.startedAt > 0n ? nanosToMillis(instance.startedAt) : undefined;
    },
    agentStart: { at: scheduler.now(), wallTime: wallClock() },
  });
};

const silentProber: Prober = {
  ...noProbes,
  prepare$: EMPTY,
  change$: NEVER,
  look: () => undefined,
  retain: () => undefined,
};
