import type { Pod } from '../pod.js';

export interface GracePeriod {
  /** At least 1. */
  readonly seconds: number;
  /** A running termination has to hurry: its grace period was longer until now. */
  readonly isShortened: boolean;
}

/**
 * The seconds a pod gets to stop: they only ever shrink, from the spec's over the API's to an override, and never below 1.
 * A deletion grace of 0 cannot be told from "not set yet", so an override in the same first call still applies.
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
  // Upstream forgets the 0 here too, and lets a later override give back time that had been taken away already.
  seconds = Math.max(1, current === 0 ? seconds : Math.min(current, seconds));
  return { seconds, isShortened: current !== 0 && current !== seconds };
};
