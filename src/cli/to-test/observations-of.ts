import type { Incident } from '../../tools/recording/incident/incident.js';
import { ObservationLedger, type Observations } from '../../tools/sim/incidents/observe-history.js';

/**
 * The observations of the pods of an incident up to a time, in the form of `observeHistory`. Containers from before the
 * recording are left out: in a history they are started.
 */
export const observationsOf = ({ instances, events }: Incident, untilMs: number): Observations => {
  const ledger = new ObservationLedger();
  const adopted = new Set(
    instances.flatMap(({ isAdopted, namespace, pod }) => (isAdopted ? [`${namespace}/${pod}`] : [])),
  );
  const seen = [
    ...instances.flatMap(({ startedMs, lifeMs, exitCode, startError, ...about }) => [
      ...(startedMs === undefined || startError !== undefined ? [] : [{ about, atMs: startedMs, what: 'started' }]),
      ...(startedMs === undefined || lifeMs === undefined
        ? []
        : [{ about, atMs: startedMs + lifeMs, what: `exited ${exitCode}` }]),
    ]),
    ...events.map(({ atMs, type, reason, ...about }) => ({ about, atMs, what: `${type} ${reason}` })),
  ];
  for (const { about, atMs, what } of seen.toSorted((one, other) => one.atMs - other.atMs)) {
    if (atMs <= untilMs && !adopted.has(`${about.namespace}/${about.pod}`)) ledger.add(about, atMs, what);
  }
  return ledger.observations();
};
