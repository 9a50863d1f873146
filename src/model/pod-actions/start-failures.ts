import type { OrderedMap } from 'immutable';

/** Source: pkg/kubelet/reason_cache.go */
export const ENTRIES_KEPT = 1_000;

export interface StartFailure {
  /** The waiting reason, such as `CrashLoopBackOff`. */
  readonly reason: string;
  readonly message: string;
}

/** The reason of each container's last failed start, by `uid_container`, the one that was stored last at the end. */
export type StartFailures = OrderedMap<string, StartFailure>;

/**
 * Stores a failed start, and drops the oldest of more than 1,000; a successful one (`undefined`) removes the entry. Upstream keeps those that
 * were read last, which makes a difference only with more than 1,000 containers that do not start.
 */
export const withStartEnded = (
  failures: StartFailures,
  uid: string,
  container: string,
  failure: StartFailure | undefined,
): StartFailures => {
  const key = keyOf(uid, container);
  const others = failures.delete(key);
  if (!failure) return others;
  const stored = others.set(key, failure);
  return stored.size > ENTRIES_KEPT ? stored.delete(stored.keySeq().first('')) : stored;
};

export const startFailureOf = (failures: StartFailures, uid: string, container: string): StartFailure | undefined =>
  failures.get(keyOf(uid, container));

const keyOf = (uid: string, container: string): string => `${uid}_${container}`;
