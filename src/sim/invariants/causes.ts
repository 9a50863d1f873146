import type { JournalEntry } from '../../model/journal.js';
import { isMirrorPod, type Pod } from '../../model/pod.js';
import type { Invariant } from './monitor.js';

/** What comes from outside; everything else follows from something. */
const INPUTS: ReadonlySet<JournalEntry['kind']> = new Set<JournalEntry['kind']>([
  ...(['agent-started', 'agent-stopping', 'entries-dropped', 'config', 'config-problem', 'config-recovered'] as const),
  ...(['runtime-changed', 'probe', 'runtime-health', 'work-due', 'housekeeping', 'kill-requested'] as const),
  // That nobody needs to remember a pod any more follows from what is no longer there.
  'forgotten',
]);
/** Events that tell what a probe has heard, or what is wrong with a pod as it is written. */
const EVENTS_OF_INPUTS: ReadonlySet<string> = new Set(['Unhealthy', 'ProbeWarning', 'InvalidProbePeriod']);
/** An earlier revision of a static pod is stopped by the pass of the later one, and for it. */
const MAY_BE_OF_ANOTHER_POD: ReadonlySet<JournalEntry['kind']> = new Set<JournalEntry['kind']>([
  ...(['call', 'call-slow', 'event', 'housekeeping'] as const),
]);

export const causes: Invariant = {
  name: 'causes',
  rule: 'Every effect, decision and outcome names entries of the same run, older than itself and about the same pod, as its causes.',
  source: 'docs/why.md',
  watch: () => {
    /** Whom the entries of this run are about. */
    let entries = new Map<string, string | undefined>();
    /** What happens to a mirror happens to the pod that it stands for. */
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
          // What is said of the node as a whole follows from no entry about a pod.
          if (entry.kind === 'event' && (uid === undefined || EVENTS_OF_INPUTS.has(entry.reason))) return undefined;
          return [{ ...about, message: `${what} names no cause (expected what it follows from)` }];
        }
        for (const cause of entry.causes) {
          if (!entries.has(cause) || cause === entry.id) {
            return [{ ...about, message: `${what} names ${cause} as a cause, which is no older entry of this run` }];
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
