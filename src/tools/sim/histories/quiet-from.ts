import type { Fault } from '../faults/fault.js';
import type { History } from './history.js';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
/** The time after which the agent cancels a silent watch. */
const SILENT_WATCH_MS = 5 * MINUTE;
/** The time until the next relist while the runtime emits events: changes without an event are known then. */
const RELIST_MS = 5 * MINUTE;

/** Returns the time of the last change and of the end of the last fault's effects, in milliseconds of the history. */
export const quietFromMs = ({
  pods,
  faults,
  node,
  cluster,
}: Pick<History, 'pods' | 'faults' | 'node' | 'cluster'>): number =>
  Math.max(
    0,
    ...pods.flatMap(({ changes }) => changes.map(({ atMs }) => atMs)),
    // A pod that waits for a terminating pod waits for a while.
    ...(cluster?.changes ?? []).map(({ atMs }) => atMs + MINUTE),
    ...faults.map((fault) => endOfFault(fault) + (node.eventedPleg && fault.kind === 'event-lost' ? RELIST_MS : 0)),
  );

const endOfFault = (fault: Fault): number => {
  switch (fault.kind) {
    case 'hangs':
      // A call without a deadline, or with twice the usual one, is over after this time.
      return fault.untilMs + 5 * MINUTE;
    case 'late-request':
    case 'late-reply':
    case 'event-late':
    case 'network-slow':
    case 'api-late':
      return fault.untilMs + fault.maxMs;
    case 'agent-killed':
      return 'atMs' in fault ? fault.atMs + fault.downMs : 0;
    case 'power-lost':
      return 'atMs' in fault ? fault.atMs + fault.downMs : 0;
    case 'machine-shuts-down':
      return fault.atMs + fault.maxDelayMs + fault.downMs;
    case 'runtime-restarts':
    case 'api-restarts':
      return fault.atMs + fault.downMs;
    case 'source-late':
      return fault.untilMs + fault.lateMs;
    case 'source-breaks':
      return fault.atMs + 30 * SECOND;
    case 'api-watches-break':
      // A silent watch is cancelled after a while.
      return fault.atMs + (fault.how === 'silent' ? SILENT_WATCH_MS : 0);
    case 'api-cut':
      return fault.untilMs + (fault.how === 'silent' ? SILENT_WATCH_MS : 0);
    case 'api-refused':
    case 'api-reply-lost':
    case 'api-silent':
    case 'api-gone':
      // Until the client's longest back-off is over, and silent connections have been cancelled.
      return fault.untilMs + MINUTE;
    case 'api-forgets':
    case 'source-repeats':
    case 'events-break':
    case 'clock-jumps':
    case 'clock-steps':
    case 'container-dies':
    case 'sandbox-dies':
      return fault.atMs;
    default:
      return fault.untilMs;
  }
};
