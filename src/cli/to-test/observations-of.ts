import type { Incident } from '../../tools/recording/incident/incident.js';
import { ObservationLedger, type Observations } from '../../tools/sim/incidents/observe-history.js';

/** The first event of a stopped pod that starts again: a new pod has none. */
const STARTED_AGAIN = 'Normal SandboxChanged';

/**
 * The observations of the pods of an incident up to a time, in the form of `observeHistory`, except of `leftOut`. Pods that
 * had been stopped before the recording are seen as new ones, as a history starts them.
 */
export const observationsOf = (
  { instances, earlierPods, events }: Incident,
  { leftOut, untilMs }: { readonly leftOut: readonly string[]; readonly untilMs: number },
): Observations => {
  const ledger = new ObservationLedger();
  const isHidden = new Set(leftOut);
  const waiting = new Set(earlierPods.map(({ namespace, pod }) => `${namespace}/${pod}`));
  const seen = [
    ...instances.flatMap(({ startedMs, lifeMs, exitCode, startError, isAdopted, ...about }) => {
      if (startedMs === undefined || isAdopted) return [];
      return [
        ...(startError === undefined ? [{ about, atMs: startedMs, what: 'started' }] : []),
        ...(lifeMs === undefined ? [] : [{ about, atMs: startedMs + lifeMs, what: `exited ${exitCode}` }]),
      ];
    }),
    ...events.map(({ atMs, type, reason, ...about }) => ({ about, atMs, what: `${type} ${reason}` })),
  ];
  for (const { about, atMs, what } of seen.toSorted((one, other) => one.atMs - other.atMs)) {
    const pod = `${about.namespace}/${about.pod}`;
    if (atMs > untilMs || isHidden.has(pod)) continue;
    const isFirst = waiting.delete(pod);
    if (!isFirst || what !== STARTED_AGAIN) ledger.add(about, atMs, what);
  }
  return ledger.observations();
};
