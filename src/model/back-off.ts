/** How long the next failure has to wait, and since when. Times are milliseconds. */
export interface BackOffEntry {
  readonly delayMs: number;
  /** Of the last attempt (containers) or failure (images). */
  readonly lastUpdate: number;
}

export interface BackOffTable {
  readonly initialMs: number;
  readonly maxMs: number;
  /** An entry that is this much older than the event in question counts for nothing. */
  readonly resetAfterMs: number;
}

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
      ? firstDelayOf(table)
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
  const steps = 1 + Math.ceil(Math.log2(table.maxMs / firstDelayOf(table)));
  return { step: Math.min(1 + Math.ceil(Math.log2(delayMs / firstDelayOf(table))), steps), steps };
};

/** The delay at a 1-based step of the table. */
export const delayAt = (step: number, table: BackOffTable): number =>
  Math.min(firstDelayOf(table) * 2 ** Math.min(step - 1, 32), table.maxMs);

const firstDelayOf = ({ initialMs, maxMs }: BackOffTable): number => Math.min(initialMs, maxMs);
