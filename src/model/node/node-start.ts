/** A part of the start of a node; `total` is from the start of the machine. */
type MeasuredPart = 'pre-kubelet' | 'pre-registration' | 'registration' | 'post-registration' | 'total';

/** The start of a node, as far as it has come. Times are the scheduler's milliseconds. */
export interface NodeStart {
  readonly startedAt: number;
  /** The start of the agent in Unix milliseconds, for the time since the start of the machine. */
  readonly startedAtUnixMs: number;
  /** The first attempt to register the Node. */
  readonly attemptedAt?: number;
  readonly registeredAt?: number;
  /** The time from the start of the machine to that of the agent; absent while it is not known. */
  readonly beforeAgentMs?: number;
  /** The node was ready, or the Node existed before: nothing is measured any more. */
  readonly isOver: boolean;
}

export type NodeStartEvent =
  | { readonly kind: 'attempted'; readonly at: number }
  /** The Node was created; `bootedAt` is the start of the machine in Unix milliseconds. */
  | { readonly kind: 'registered'; readonly at: number; readonly bootedAt: number | undefined }
  /** The Node existed before. */
  | { readonly kind: 'found' }
  /** The API server has the Node as ready. */
  | { readonly kind: 'ready'; readonly at: number };

/** The start after an event, and the parts that have ended with it. */
export interface NodeStartStep {
  readonly start: NodeStart;
  readonly ended: readonly { readonly part: MeasuredPart; readonly durationMs: number }[];
}

/**
 * Returns the start after an event. Only the first attempt, the first registration and the first time as ready count.
 *
 * Source: pkg/kubelet/util/node_startup_latency_tracker.go
 */
export const foldNodeStart = (start: NodeStart, event: NodeStartEvent): NodeStartStep => {
  switch (event.kind) {
    case 'attempted':
      return { start: { ...start, attemptedAt: start.attemptedAt ?? event.at }, ended: [] };
    case 'found':
      return { start: { ...start, isOver: true }, ended: [] };
    case 'registered':
      return registered(start, event.at, event.bootedAt);
    case 'ready':
      return ready(start, event.at);
  }
};

const registered = (start: NodeStart, at: number, bootedAt: number | undefined): NodeStartStep => {
  const { startedAt, startedAtUnixMs, attemptedAt, registeredAt, isOver } = start;
  if (isOver || attemptedAt === undefined || registeredAt !== undefined) return { start, ended: [] };
  const beforeAgentMs = bootedAt === undefined ? undefined : startedAtUnixMs - bootedAt;
  return {
    start: { ...start, registeredAt: at, ...(beforeAgentMs !== undefined && { beforeAgentMs }) },
    ended: [
      ...(beforeAgentMs === undefined ? [] : [{ part: 'pre-kubelet' as const, durationMs: beforeAgentMs }]),
      { part: 'pre-registration', durationMs: attemptedAt - startedAt },
      { part: 'registration', durationMs: at - attemptedAt },
    ],
  };
};

const ready = (start: NodeStart, at: number): NodeStartStep => {
  const { startedAt, registeredAt, beforeAgentMs, isOver } = start;
  if (registeredAt === undefined || isOver) return { start, ended: [] };
  return {
    start: { ...start, isOver: true },
    ended: [
      { part: 'post-registration', durationMs: at - registeredAt },
      ...(beforeAgentMs === undefined ? [] : [{ part: 'total' as const, durationMs: beforeAgentMs + at - startedAt }]),
    ],
  };
};
