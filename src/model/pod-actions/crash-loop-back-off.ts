import {
  advance,
  type BackOffEntry,
  type BackOffTable,
  isBlocked,
  isExpired,
  nextDelay,
  stepOf,
} from '../values/back-off.js';
import { containerHash, isSameHash } from './container-hash.js';
import type { EndVerdict } from './end-counts.js';
import { fnv1a64 } from '../values/fnv.js';
import { formatGoDuration } from '../values/go-duration.js';
import { type Container, formatPod, type Pod } from '../pod/pod.js';
import { nanosToMillis, type RuntimeContainerStatus } from '../pleg/runtime-pod.js';

/** Source: pkg/kubelet/kubelet.go MaxCrashLoopBackOff, initialCrashLoopBackOff, crashLoopBackOffResetPeriod (fixed). */
export const CRASH_LOOP_INITIAL_MS = 10_000;
export const CRASH_LOOP_MAX_MS = 300_000;
export const CRASH_LOOP_RESET_AFTER_MS = 600_000;

/**
 * No decision needs an entry that is older: an instance that runs up to the reset period still waits, with jitter, for less
 * than that period again. Upstream forgets its entry after the reset period, in the middle of such a wait.
 */
export const FORGOTTEN_AFTER_MS = 2 * CRASH_LOOP_RESET_AFTER_MS;

/** The runtime's fields of an instance that has ended; times are nanoseconds of `CrashLoopInput.now`: see `instanceAt`. */
export type ExitedInstance = Pick<
  RuntimeContainerStatus,
  'id' | 'createdAt' | 'finishedAt' | 'restartCount' | 'exitCode' | 'hash'
>;

/** The back-off of a container. Times are the scheduler's milliseconds. */
export interface CrashLoopEntry extends BackOffEntry {
  /**
   * The end of the instance with this ID, as it was taken when it was first seen. The wait counts from there, however the clocks
   * of the agent and of the runtime are set meanwhile.
   */
  readonly end?: { readonly id: string; readonly at: number };
  /** The decision before `lastUpdate`: the start of the instance before the newest one. */
  readonly decidedBefore?: number;
  /** The ends that count for another agent as well, since the table began; see `endVerdict`. Default: 0. */
  readonly crashes?: number;
  /** The instance whose end was the last of them. Its start may fail and be decided again, and the end counts once. */
  readonly counted?: string;
  /** The instance whose end the container waits for, if a restart of all containers has removed it from the runtime. */
  readonly removed?: ExitedInstance;
}

export interface CrashLoopInput {
  readonly pod: Pod;
  readonly container: Container;
  /**
   * The entry of this life of the agent; absent if it has not started the container yet. Its delay is 0 after a first start
   * without an end before it.
   */
  readonly entry?: CrashLoopEntry | undefined;
  readonly newestExited?: ExitedInstance | undefined;
  /** The newest started instance, which runs if the sync replaces it. Default: `newestExited`. */
  readonly newest?: Pick<ExitedInstance, 'id' | 'createdAt' | 'restartCount' | 'hash'> | undefined;
  /**
   * The number of crashes that the newest instance was created with, as its annotation says. Absent where its sandbox has ended: a pod that
   * was stopped starts over.
   */
  readonly shownCrashes?: number | undefined;
  /** Whether this end is a crash. Default: it is. */
  readonly end?: EndVerdict | undefined;
  /** The scheduler's milliseconds: a clock that is never set. */
  readonly now: number;
  /** `crashLoopBackOff.maxContainerRestartPeriod`. */
  readonly maxMs?: number;
}

export type CrashLoopVerdict =
  | {
      readonly blocked: true;
      readonly delayMs: number;
      /** The time from which the start is allowed, the scheduler's milliseconds. */
      readonly until: number;
      readonly step: number;
      readonly steps: number;
      readonly resetAfterMs: number;
      readonly exitCode: number;
      /** The message of the waiting state `CrashLoopBackOff`. */
      readonly message: string;
      /** The message of the event `BackOff`. */
      readonly eventMessage: string;
      /** The entry to store; it may come from the runtime's instances. */
      readonly entry: CrashLoopEntry;
      /** The entry comes from the runtime: this life of the agent has not seen the container end before. */
      readonly isFromRuntime: boolean;
    }
  | {
      readonly blocked: false;
      /** The entry to store at the start. */
      readonly entry: CrashLoopEntry;
      /** The end that another life of the agent has left is no crash; half a sentence, see `EndVerdict`. */
      readonly uncounted?: string;
    };

/**
 * Decides whether a container waits before its next start: 10 s after its second end, then twice as long each time. In one life of the agent
 * every end counts, as upstream. Another life goes on with the crashes that the newest instance in the runtime was created with; an end that
 * is no crash makes no container wait there.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go doBackOff; what outlives the agent is ours.
 */
export const decideBackOff = (input: CrashLoopInput): CrashLoopVerdict => {
  const { pod, container, newestExited, now, maxMs = CRASH_LOOP_MAX_MS, end: ended = CRASH } = input;
  const remembered = input.entry?.delayMs === 0 ? undefined : input.entry;
  const table = crashLoopTable(maxMs);
  const told = input.entry === undefined ? entryFromRuntime(input, table) : undefined;
  const known = input.entry ?? told;
  const entry = unlessForgotten(remembered ?? told, input, table);
  if (newestExited === undefined) return { blocked: false, entry: entry ?? { delayMs: 0, lastUpdate: now } };
  const since = waitingSince(newestExited, input);
  const end = { id: newestExited.id, at: since };
  const decided = { end, ...(known && { decidedBefore: known.lastUpdate }) };
  // An entry from the runtime has its times, and so has the end of the run.
  const ranUntil = remembered ? since : endOf(newestExited);
  const isOver = entry !== undefined && isExpired(entry, ranUntil, table);
  const kept = isOver ? undefined : entry;
  if (input.entry === undefined && !ended.counts) {
    return {
      blocked: false,
      entry: { ...(kept ?? { delayMs: 0 }), lastUpdate: now, ...decided },
      uncounted: ended.because,
    };
  }
  if (isOver || !isBlocked(entry, { since, now, table })) {
    const before = entry !== undefined && !isExpired(entry, since, table) ? (entry.crashes ?? 0) : 0;
    const { id } = input.newest ?? newestExited;
    const crashes = before + (ended.counts && entry?.counted !== id ? 1 : 0);
    return {
      blocked: false,
      entry: {
        ...advance(entry, { eventAt: since, now, table }),
        ...decided,
        ...(crashes > 0 && { crashes, ...(ended.counts && { counted: id }) }),
      },
    };
  }
  const delayMs = Math.min(entry.delayMs, maxMs);
  const delay = formatGoDuration(delayMs);
  return {
    blocked: true,
    delayMs,
    until: since + delayMs,
    ...stepOf(delayMs, table),
    resetAfterMs: table.resetAfterMs,
    exitCode: newestExited.exitCode,
    message: `back-off ${delay} restarting failed container=${container.name} pod=${formatPod(pod)}`,
    eventMessage: `Back-off restarting failed container ${container.name} in pod ${formatPod(pod)}`,
    entry: { ...entry, end },
    isFromRuntime: told !== undefined,
  };
};

/**
 * Returns the entry that remembers the newest end, which a restart of all containers removes from the runtime: without it, a container that
 * always ends that way would start again and again without a wait. Upstream forgets this end.
 */
export const rememberEnd = (input: CrashLoopInput): CrashLoopEntry => {
  const { entry, newestExited, now, maxMs = CRASH_LOOP_MAX_MS } = input;
  const known = entry ?? entryFromRuntime(input, crashLoopTable(maxMs)) ?? { delayMs: 0, lastUpdate: now };
  return newestExited ? { ...known, removed: newestExited } : known;
};

/**
 * The key of an entry, which begins with `crashLoopKeysOf` its pod. Another image or other resources have another entry.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go GetBackoffKey.
 */
export const crashLoopKey = ({ metadata }: Pod, { name, image = '', resources }: Container): string =>
  `${crashLoopKeysOf(metadata.uid)}${fnv1a64(
    [metadata.name, metadata.namespace, name, image, JSON.stringify(resources ?? {})].join('/'),
  ).toString(16)}`;

export const crashLoopKeysOf = (uid: string): string => `${uid}/`;

/** Whether no decision needs this entry any more. */
export const isCrashLoopEntryStale = (entry: BackOffEntry, now: number): boolean =>
  now - entry.lastUpdate > FORGOTTEN_AFTER_MS;

const CRASH: EndVerdict = { counts: true, because: 'came by itself' };

const crashLoopTable = (maxMs: number): BackOffTable => ({
  initialMs: CRASH_LOOP_INITIAL_MS,
  maxMs,
  resetAfterMs: CRASH_LOOP_RESET_AFTER_MS,
});

/** Returns the entry unless it is too old, whether or not housekeeping has dropped it. */
const unlessForgotten = (
  entry: CrashLoopEntry | undefined,
  input: CrashLoopInput,
  table: BackOffTable,
): CrashLoopEntry | undefined => {
  if (!entry || isCrashLoopEntryStale(entry, input.now)) return undefined;
  // A running instance has run until now, whenever the one before it ended.
  return isReplacing(input) && isExpired(entry, input.now, table) ? undefined : entry;
};

/** The entry of the agent that has created the newest instance, as far as it counts for another one. */
const entryFromRuntime = (input: CrashLoopInput, table: BackOffTable): CrashLoopEntry | undefined => {
  const { container, newestExited, newest = newestExited, shownCrashes: crashes = 0 } = input;
  if (newest === undefined || crashes < 1 || !isSameHash(newest.hash, containerHash(container))) return undefined;
  return { delayMs: nextDelay(table, crashes), lastUpdate: nanosToMillis(newest.createdAt), crashes };
};

/** Whether the newest instance still runs, and is about to be replaced. */
const isReplacing = ({ newestExited, newest = newestExited }: CrashLoopInput): boolean =>
  newest !== undefined && newest.restartCount > (newestExited?.restartCount ?? -1);

/**
 * The end of the instance as it was first seen. It has ended neither in the future nor before this agent decided to start it: a stamp that
 * says so is of a wrong clock, and the end counts from now.
 */
const waitingSince = (instance: ExitedInstance, input: CrashLoopInput): number => {
  const { entry, now } = input;
  if (entry?.end?.id === instance.id) return entry.end.at;
  const decidedAt = isReplacing(input) ? entry?.decidedBefore : entry?.lastUpdate;
  const end = endOf(instance);
  return end > now || (decidedAt !== undefined && end < decidedAt) ? now : end;
};

/**
 * Returns the instance with times of the scheduler: as far from `now` as the runtime's are from `wallNow`. Both are milliseconds. 0, for
 * an unknown time, stays 0.
 */
export const instanceAt = <T extends Pick<ExitedInstance, 'createdAt' | 'finishedAt'>>(
  instance: T,
  times: { readonly now: number; readonly wallNow: number },
): T => ({
  ...instance,
  createdAt: timeAt(instance.createdAt, times),
  finishedAt: timeAt(instance.finishedAt, times),
});

/** The same of one time, in nanoseconds. */
export const timeAt = (nanos: bigint, { now, wallNow }: { readonly now: number; readonly wallNow: number }): bigint => {
  if (nanos <= 0n) return nanos;
  const shifted = nanos + BigInt(Math.round((now - wallNow) * NANOS_PER_MS));
  return shifted > 0n ? shifted : 1n;
};

const NANOS_PER_MS = 1_000_000;

/** An instance that failed to start may have no end of its own. */
const endOf = ({ finishedAt, createdAt }: ExitedInstance): number =>
  nanosToMillis(finishedAt > 0n ? finishedAt : createdAt);
