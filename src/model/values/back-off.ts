/** Waits that grow with each failure in a row. */
export interface Backoff {
  /** The wait after the first failure, in milliseconds. */
  readonly initialMs: number;
  /** The longest wait without its jitter, in milliseconds. */
  readonly maxMs: number;
  /** The growth from one wait to the next; default: 2. */
  readonly factor?: number;
  /** The largest share by which chance makes a wait longer; default: 0. */
  readonly jitter?: number;
  /** The time without a failure after which the next failure counts as the first, in milliseconds; default: no such time. */
  readonly resetAfterMs?: number;
}

/** The failures in a row, with one that comes `quietMs` after the time from which `resetAfterMs` counts. */
export const failuresInRow = ({ resetAfterMs = Infinity }: Backoff, before: number, quietMs: number): number =>
  quietMs >= resetAfterMs ? 1 : before + 1;

/** The wait after `failures` failures in a row, at least one, in milliseconds. `draw` of [0, 1) chooses within the jitter. */
export const nextDelay = ({ initialMs, maxMs, factor = 2, jitter = 0 }: Backoff, failures: number, draw = 0): number =>
  Math.min(initialMs * factor ** Math.min(failures - 1, MOST_GROWTHS), maxMs) * (1 + jitter * draw);

/** Every wait has reached its maximum by then; more would overflow. */
const MOST_GROWTHS = 100;

/** How long the next failure has to wait, and since when. Times are milliseconds. */
export interface BackOffEntry {
  readonly delayMs: number;
  /** The time of the last attempt (containers) or failure (images). */
  readonly lastUpdate: number;
}

/** A back-off that doubles and starts over. An entry that is more than `resetAfterMs` older than the event has no effect. */
export type BackOffTable = Required<Pick<Backoff, 'initialMs' | 'maxMs' | 'resetAfterMs'>>;

/**
 * The entry after one more attempt at `now`, for something that went wrong at `eventAt`: the first delay, or twice the one
 * before. Source: staging/src/k8s.io/client-go/util/flowcontrol/backoff.go Next.
 */
export const advance = (
  entry: BackOffEntry | undefined,
  { eventAt, now, table }: { readonly eventAt: number; readonly now: number; readonly table: BackOffTable },
): BackOffEntry => ({
  delayMs:
    entry === undefined || isExpired(entry, eventAt, table)
      ? nextDelay(table, 1)
      : Math.min(entry.delayMs * 2, table.maxMs),
  lastUpdate: now,
});

/** Whether the wait that began at `since` is not over at `now`. Source: flowcontrol/backoff.go IsInBackOffSince. */
export const isBlocked = (
  entry: BackOffEntry | undefined,
  { since, now, table }: { readonly since: number; readonly now: number; readonly table: BackOffTable },
): entry is BackOffEntry =>
  entry !== undefined && !isExpired(entry, since, table) && now - since < Math.min(entry.delayMs, table.maxMs);

/** Nothing depends on this entry any more at `at`. Source: flowcontrol/backoff.go hasExpired. */
export const isExpired = ({ lastUpdate }: BackOffEntry, at: number, { resetAfterMs }: BackOffTable): boolean =>
  at - lastUpdate > resetAfterMs;

/** Where `delayMs` stands in the doubling table, counted from 1, and how many delays the table has. */
export const stepOf = (delayMs: number, table: BackOffTable): { readonly step: number; readonly steps: number } => {
  const steps = 1 + Math.ceil(Math.log2(table.maxMs / nextDelay(table, 1)));
  return { step: Math.min(1 + Math.ceil(Math.log2(delayMs / nextDelay(table, 1))), steps), steps };
};
