import type { Pod } from '../pod/pod.js';

export interface GracePeriod {
  /** At least 1. */
  readonly seconds: number;
  /** The grace period of a running termination was longer until now. */
  readonly isShortened: boolean;
}

/**
 * Returns the grace period of a pod: it only shrinks, from the spec's over the API's to an override, and never below 1. A
 * deletion grace period of 0 equals "not set yet", so an override in the same first call still applies.
 *
 * Source: pkg/kubelet/pod_workers.go calculateEffectiveGracePeriod
 */
export const effectiveGracePeriod = (
  current: number,
  pod: Pod | undefined,
  override: number | undefined,
): GracePeriod => {
  let seconds = current;
  let isOverridden = false;
  for (const asked of [pod?.metadata.deletionGracePeriodSeconds, override]) {
    if (asked === undefined || (seconds !== 0 && asked >= seconds)) continue;
    seconds = asked;
    isOverridden = true;
  }
  if (!isOverridden && seconds === 0) seconds = pod?.spec.terminationGracePeriodSeconds ?? 0;
  // Upstream ignores the 0 here, too, and a later override lengthens a grace period that was shortened before.
  seconds = Math.max(1, current === 0 ? seconds : Math.min(current, seconds));
  return { seconds, isShortened: current !== 0 && current !== seconds };
};
