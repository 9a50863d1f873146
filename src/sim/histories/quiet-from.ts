import type { Fault } from '../faults/fault.js';
import type { History } from './history.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The agent gives a watch up of which nothing has been heard for so long. */
const SILENT_WATCH_MS = 5 * MINUTE;
/** Until the next relist while the runtime tells of its events: what no event has told of is known then. */
const RELIST_MS = 5 * MINUTE;

/** When the last change has been made, and the last that a fault has struck is over, in milliseconds of the history. */
export const quietFromMs = ({
  pods,
  faults,
  node,
  cluster,
}: Pick<History, 'pods' | 'faults' | 'node' | 'cluster'>): number =>
  Math.max(
    0,
    ...pods.flatMap(({ changes }) => changes.map(({ atMs }) => atMs)),
    // What has to wait for a pod that goes takes a while.
    ...(cluster?.changes ?? []).map(({ atMs }) => atMs + MINUTE),
    ...faults.map((fault) => endOfFault(fault) + (node.eventedPleg && fault.kind === 'event-lost' ? RELIST_MS : 0)),
  );

const endOfFault = (fault: Fault): number => {
  switch (fault.kind) {
    case 'hangs':
      // What has no deadline of its own, or twice the usual one, is over after so long.
      return fault.untilMs + 5 * MINUTE;
    case 'late-request':
    case 'late-reply':
    case 'event-late':
    case 'network-slow':
    case 'api-late':
      return fault.untilMs + fault.maxMs;
    case 'agent-killed':
      return 'atMs' in fault ? fault.atMs + fault.downMs : 0;
    case 'runtime-restarts':
    case 'api-restarts':
      return fault.atMs + fault.downMs;
    case 'source-late':
      return fault.untilMs + fault.lateMs;
    case 'source-breaks':
      return fault.atMs + 30 * SECOND;
    case 'api-watches-break':
      // One that is silent is given up after a while.
      return fault.atMs + (fault.how === 'silent' ? SILENT_WATCH_MS : 0);
    case 'api-cut':
      return fault.untilMs + (fault.how === 'silent' ? SILENT_WATCH_MS : 0);
    case 'api-refused':
    case 'api-reply-lost':
    case 'api-silent':
    case 'api-gone':
      // Until the longest back-off of whoever has asked is over, and what is silent has been given up.
      return fault.untilMs + MINUTE;
    case 'api-forgets':
    case 'source-repeats':
    case 'events-break':
    case 'clock-jumps':
    case 'container-dies':
    case 'sandbox-dies':
      return fault.atMs;
    default:
      return fault.untilMs;
  }
};
