import type { JournalEntry } from '../../../model/journal/journal.js';
import { isMirrorPod, type Pod } from '../../../model/pod/pod.js';
import type { Invariant } from './monitor.js';

/** Inputs come from outside; every other entry has a cause. */
const INPUTS: ReadonlySet<JournalEntry['kind']> = new Set<JournalEntry['kind']>([
  ...(['agent-started', 'agent-stopping', 'entries-dropped', 'config', 'config-problem', 'config-recovered'] as const),
  ...([
    'source-heard',
    'runtime-changed',
    'probe',
    'runtime-health',
    'work-due',
    'housekeeping',
    'kill-requested',
  ] as const),
  // A pod is forgotten because its containers are gone.
  'forgotten',
]);
/** Events about the output of a probe, or about mistakes in the spec of a pod. */
const EVENTS_OF_INPUTS: ReadonlySet<string> = new Set(['Unhealthy', 'ProbeWarning', 'InvalidProbePeriod']);
/** The run of the later version stops an earlier version of a static pod, for its own sake; a pod is stopped to make room for another one. */
const MAY_BE_OF_ANOTHER_POD: ReadonlySet<JournalEntry['kind']> = new Set<JournalEntry['kind']>([
  ...(['call', 'call-slow', 'event', 'housekeeping', 'kill-requested'] as const),
]);

export const causes: Invariant = {
  name: 'causes',
  rule: 'Every effect, decision and outcome names entries of the same run, older than itself and about the same pod, as its causes.',
  source: 'docs/journal.md',
  watch: () => {
    /** The pods of this run's entries. */
    let entries = new Map<string, string | undefined>();
    /** Entries about a mirror pod are about its static pod. */
    const mirrors = new Set<string | undefined>();
    return {
      on: (event) => {
        if (event.kind === 'agent-started') entries = new Map();
        if (event.kind === 'api-changed' && event.resource === 'pods' && isMirrorPod(event.object as unknown as Pod))
          mirrors.add(event.object.metadata.uid);
        if (event.kind !== 'journal') return undefined;
        const { entry } = event;
        const uid = entry.pod?.uid;
        const about = { uid, container: entry.container };
        const what = `${entry.kind} ${entry.id}`;
        if (entries.has(entry.id))
          return [{ ...about, message: `the id of ${what} was used before (expected a new one)` }];
        entries.set(entry.id, uid);
        if (entry.causes.length === 0) {
          if (INPUTS.has(entry.kind)) return undefined;
          // An entry about the node as a whole has no cause among entries of pods.
          if (entry.kind === 'event' && (uid === undefined || EVENTS_OF_INPUTS.has(entry.reason))) return undefined;
          return [{ ...about, message: `${what} names no cause (expected the entry that caused it)` }];
        }
        for (const cause of entry.causes) {
          if (!entries.has(cause) || cause === entry.id) {
            return [
              { ...about, message: `${what} names ${cause} as a cause, which is not an older entry of this run` },
            ];
          }
          const ofCause = entries.get(cause);
          if (ofCause === undefined || ofCause === uid || mirrors.has(ofCause)) continue;
          if (!MAY_BE_OF_ANOTHER_POD.has(entry.kind)) {
            return [{ ...about, message: `${what} names ${cause} as a cause, which is about pod ${ofCause}` }];
          }
        }
        return undefined;
      },
    };
  },
};
