import type { SchedulerLike } from 'rxjs';
import type { WallClock } from '../ports/wall-clock.js';
import type { KubeletState } from './kubelet-state.js';

/**
 * Returns the time with which the start time of a pod is compared, in Unix milliseconds: the wall clock as it was when this agent first
 * saw the start time, and the time since then. A clock that is set later does not end a pod.
 *
 * Source: pkg/kubelet/active_deadline.go pastActiveDeadline, which reads the wall clock each time
 */
export const activeTime = (
  { activeSince, apply }: Pick<KubeletState, 'activeSince' | 'apply'>,
  { scheduler, wallClock }: { readonly scheduler: Pick<SchedulerLike, 'now'>; readonly wallClock: WallClock },
  { uid, startTime }: { readonly uid: string; readonly startTime: string | undefined },
): number => {
  const [now, wallNow] = [scheduler.now(), wallClock()];
  if (startTime === undefined) return wallNow;
  const known = activeSince.get(uid);
  if (known?.startTime === startTime) return known.wallTime + now - known.seenAt;
  // No pod has started in the future.
  const wallTime = Math.max(wallNow, Date.parse(startTime));
  apply({ kind: 'start-time-seen', uid, seen: { startTime, seenAt: now, wallTime } });
  return wallTime;
};
