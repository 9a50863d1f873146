import type { Node } from './node.js';
import { type DroppedField, droppedFields } from './update-node.js';

/** The status of the Node as this agent has written it so far. */
export interface StatusReport {
  /** The time of the last write, in the scheduler's milliseconds; undefined before the first. */
  readonly reportedAt: number | undefined;
  /** Added to the period of reports until the next one, in milliseconds; negative for an early report. */
  readonly spreadMs: number;
  /** The fields that the API server does not keep. They are not sent again. */
  readonly dropped: ReadonlySet<DroppedField>;
  /** Whether pods may not be placed on the node, in the Node of the last update. */
  readonly isUnschedulable: boolean;
}

export const NO_REPORT: StatusReport = {
  reportedAt: undefined,
  spreadMs: 0,
  dropped: new Set(),
  isUnschedulable: false,
};

/**
 * Whether an unchanged status has to be written. `periodMs` is the period of reports.
 *
 * Source: pkg/kubelet/kubelet_node_status.go tryUpdateNodeStatus
 */
export const isReportDue = ({ reportedAt, spreadMs }: StatusReport, now: number, periodMs: number): boolean =>
  reportedAt === undefined || now - reportedAt >= periodMs + spreadMs;

/** Returns the report after the reply to a write, and the fields of this write that the API server has dropped. */
export const afterWrite = (
  before: StatusReport,
  { sent, answer, now }: { readonly sent: Node; readonly answer: Node; readonly now: number },
): { readonly report: StatusReport; readonly dropped: readonly DroppedField[] } => {
  const dropped = droppedFields(sent, answer);
  return { report: { ...before, reportedAt: now, dropped: new Set([...before.dropped, ...dropped]) }, dropped };
};
