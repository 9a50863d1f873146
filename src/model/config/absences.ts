/**
 * The time for which a file or folder must be missing before it counts as gone, in milliseconds. A process that replaces one by two
 * moves leaves a moment without either.
 */
export const DOUBT_MS = 2_000;

/** By key: the time of the first listing that missed it, by a clock that only goes forward. */
export type Absences = ReadonlyMap<string, number>;

export const NO_ABSENCES: Absences = new Map();

export interface FoldedAbsences {
  /** Missing, but not yet gone. */
  readonly absences: Absences;
  readonly gone: ReadonlySet<string>;
  /** The wait until a further listing can decide, in milliseconds; `undefined` if no key is missing. */
  readonly againInMs: number | undefined;
}

/**
 * Folds the missing keys of one listing. A key is gone if a listing misses it at least `DOUBT_MS` after the first listing that missed
 * it, so that takes two listings. A key that is listed again in between was never missing.
 */
export const foldAbsences = (before: Absences, missing: Iterable<string>, now: number): FoldedAbsences => {
  const absences = new Map<string, number>();
  const gone = new Set<string>();
  let againInMs: number | undefined;
  for (const key of missing) {
    const since = before.get(key);
    if (since !== undefined && now - since >= DOUBT_MS) {
      gone.add(key);
      continue;
    }
    absences.set(key, since ?? now);
    const leftMs = since === undefined ? DOUBT_MS : Math.min(since + DOUBT_MS - now, DOUBT_MS);
    againInMs = Math.min(againInMs ?? DOUBT_MS, leftMs);
  }
  return { absences, gone, againInMs };
};
