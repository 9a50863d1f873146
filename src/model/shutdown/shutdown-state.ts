/** The newest shutdown of the node, as its file keeps it for the metrics of later agents. Unix milliseconds. */
export interface ShutdownState {
  /** Absent if there was none. */
  readonly startedAt?: number;
  /** Absent until it has ended. */
  readonly endedAt?: number;
}

/** The name of the file in the root directory of the agent. Source: pkg/kubelet/nodeshutdown/nodeshutdown_manager_linux.go */
export const SHUTDOWN_STATE_FILE = 'graceful_node_shutdown_state';

/** The zero of Go's time, which stands for a missing one. */
const ZERO_TIME = '0001-01-01T00:00:00Z';
const RFC_3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

/** Returns the content of the file: JSON with times in RFC 3339. Source: nodeshutdown_manager.go state */
export const formatShutdownState = ({ startedAt, endedAt }: ShutdownState): string =>
  JSON.stringify({ startTime: timeText(startedAt), endTime: timeText(endedAt) });

const timeText = (time: number | undefined): string => (time === undefined ? ZERO_TIME : new Date(time).toISOString());

/**
 * Parses the content of the file, also of one that a kubelet has written. Unknown fields are ignored.
 *
 * Errors: the text is no JSON object, or a time is not in RFC 3339; with the field and the expected form.
 */
export const parseShutdownState = (text: string): ShutdownState => {
  const content: unknown = JSON.parse(text);
  if (typeof content !== 'object' || content === null || Array.isArray(content)) {
    const kind = content === null ? 'null' : Array.isArray(content) ? 'a list' : typeof content;
    throw new Error(`holds ${kind} (expected an object with startTime and endTime)`);
  }
  const startedAt = timeIn(content, 'startTime');
  const endedAt = timeIn(content, 'endTime');
  return { ...(startedAt !== undefined && { startedAt }), ...(endedAt !== undefined && { endedAt }) };
};

const timeIn = (content: object, field: 'startTime' | 'endTime'): number | undefined => {
  const value = (content as Readonly<Record<string, unknown>>)[field];
  if (value === undefined || value === null) return undefined;
  const time = typeof value === 'string' && RFC_3339.test(value) ? Date.parse(value) : NaN;
  if (Number.isNaN(time)) {
    throw new Error(`${field}: ${JSON.stringify(value)} is no time (expected RFC 3339, such as 2026-01-31T12:00:00Z)`);
  }
  return time <= Date.parse(ZERO_TIME) ? undefined : time;
};

/** Both times in whole Unix seconds, 0 for a missing one. Source: nodeshutdown_manager.go timestamp */
export const shutdownTimestamps = ({
  startedAt = 0,
  endedAt = 0,
}: ShutdownState): { readonly start: number; readonly end: number } => ({
  start: Math.floor(startedAt / 1_000),
  end: Math.floor(endedAt / 1_000),
});
