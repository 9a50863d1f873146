import { advance, type BackOffEntry, type BackOffTable, delayAt, isBlocked, isExpired, stepOf } from './back-off.js';
import { containerHash, isSameHash } from './container-hash.js';
import { fnv1a64 } from './fnv.js';
import { formatGoDuration } from './go-duration.js';
import { type Container, formatPod, type Pod } from './pod.js';
import { nanosToMillis, type RuntimeContainerStatus } from './runtime-pod.js';

/** Source: pkg/kubelet/kubelet.go MaxCrashLoopBackOff, initialCrashLoopBackOff, crashLoopBackOffResetPeriod (fixed). */
export const CRASH_LOOP_INITIAL_MS = 10_000;
export const CRASH_LOOP_MAX_MS = 300_000;
export const CRASH_LOOP_RESET_AFTER_MS = 600_000;

/** What the runtime still knows of an instance that has ended; times are Unix nanoseconds. */
export type ExitedInstance = Pick<
  RuntimeContainerStatus,
  'createdAt' | 'finishedAt' | 'restartCount' | 'exitCode' | 'hash'
>;

export interface CrashLoopInput {
  readonly pod: Pod;
  readonly container: Container;
  /** What the agent remembers; absent after a restart of the agent. */
  readonly entry?: BackOffEntry | undefined;
  readonly newestExited?: ExitedInstance | undefined;
  /** The newest instance that was started: it still runs where it is about to be replaced. `newestExited` unless given. */
  readonly newest?: Pick<ExitedInstance, 'createdAt' | 'restartCount' | 'hash'> | undefined;
  /** Older ones, as far as the runtime has kept them, newest first: they show where the table last started over. */
  readonly earlierExited?: readonly ExitedInstance[];
  /** Unix milliseconds. */
  readonly now: number;
  /** `crashLoopBackOff.maxContainerRestartPeriod`. */
  readonly maxMs?: number;
}

export type CrashLoopVerdict =
  | {
      readonly blocked: true;
      readonly delayMs: number;
      /** When the start is allowed, Unix milliseconds. */
      readonly until: number;
      readonly step: number;
      readonly steps: number;
      readonly resetAfterMs: number;
      readonly exitCode: number;
      /** Of the waiting state `CrashLoopBackOff`. */
      readonly message: string;
      /** Of the event `BackOff`. */
      readonly eventMessage: string;
      /** To be remembered: it may have been told from the runtime's facts. */
      readonly entry: BackOffEntry;
    }
  | {
      readonly blocked: false;
      /** To be remembered once the start is attempted; absent when nothing has ended yet. */
      readonly entry: BackOffEntry | undefined;
    };

/**
 * Whether a container has to wait before it is started again: 10 s after its second end, then twice as long each time. The
 * table outlives the agent: without an entry in memory it is told from what the runtime still has of the container.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff; the derivation is ours.
 */
export const decideBackOff = (input: CrashLoopInput): CrashLoopVerdict => {
  const { pod, container, newestExited, now, maxMs = CRASH_LOOP_MAX_MS } = input;
  if (newestExited === undefined) return { blocked: false, entry: input.entry };

  const table = crashLoopTable(maxMs);
  const entry = input.entry ?? entryFromFacts(input, table);
  const finishedAt = endOf(newestExited);
  if (!isBlocked(entry, { since: finishedAt, now, table })) {
    return { blocked: false, entry: advance(entry, { eventAt: finishedAt, now, table }) };
  }
  const delayMs = Math.min(entry.delayMs, maxMs);
  const delay = formatGoDuration(delayMs);
  return {
    blocked: true,
    delayMs,
    until: finishedAt + delayMs,
    ...stepOf(delayMs, table),
    resetAfterMs: table.resetAfterMs,
    exitCode: newestExited.exitCode,
    message: `back-off ${delay} restarting failed container=${container.name} pod=${formatPod(pod)}`,
    eventMessage: `Back-off restarting failed container ${container.name} in pod ${formatPod(pod)}`,
    entry,
  };
};

/**
 * Under which an entry is remembered: another image or other resources are another table.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go GetBackoffKey.
 */
export const crashLoopKey = ({ metadata }: Pod, { name, image = '', resources }: Container): string =>
  fnv1a64(
    [metadata.name, metadata.namespace, metadata.uid, name, image, JSON.stringify(resources ?? {})].join('/'),
  ).toString(16);

/** Nothing is lost by forgetting this entry. */
export const isCrashLoopEntryStale = (entry: BackOffEntry, now: number): boolean =>
  isExpired(entry, now, crashLoopTable(CRASH_LOOP_MAX_MS));

const crashLoopTable = (maxMs: number): BackOffTable => ({
  initialMs: CRASH_LOOP_INITIAL_MS,
  maxMs,
  resetAfterMs: CRASH_LOOP_RESET_AFTER_MS,
});

/**
 * What an agent that never stopped would remember. The end of the n-th instance since the table began waits at step n; the
 * table began with the first instance of this definition, or at the end of the last one that ran long enough.
 */
const entryFromFacts = (
  { container, newestExited, newest = newestExited, earlierExited = [] }: CrashLoopInput,
  table: BackOffTable,
): BackOffEntry | undefined => {
  const isCurrent = ({ hash }: Pick<ExitedInstance, 'hash'>) => isSameHash(hash, containerHash(container));
  if (newestExited === undefined || newest === undefined || !isCurrent(newest)) return undefined;
  const isReplaced = newest.restartCount > newestExited.restartCount;
  const before = (isReplaced ? [newestExited, ...earlierExited] : earlierExited).find(
    (instance) => startsOver(instance, table) || !isCurrent(instance),
  );
  const began = before === undefined ? 0 : isCurrent(before) ? before.restartCount : before.restartCount + 1;
  // The first of a definition counts as well if something of the one before had ended when it was started: always, but where the
  // very first instance was replaced, of which nobody can tell whether it had ended by itself.
  const hasFollowed = before !== undefined && !isCurrent(before) && before.restartCount > 0;
  const step = newest.restartCount - began + (hasFollowed ? 1 : 0);
  if (step < 1) return undefined;
  return { delayMs: delayAt(step, table), lastUpdate: nanosToMillis(newest.createdAt) };
};

const startsOver = (instance: ExitedInstance, { resetAfterMs }: BackOffTable): boolean =>
  endOf(instance) - nanosToMillis(instance.createdAt) > resetAfterMs;

/** An instance that failed to start may have no end of its own. */
const endOf = ({ finishedAt, createdAt }: ExitedInstance): number =>
  nanosToMillis(finishedAt > 0n ? finishedAt : createdAt);
