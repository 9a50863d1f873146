import type { JournalId } from '../journal.js';
import { isStaticPod, isTerminalPhase, type Pod, type PodRef, type PodStatus } from '../pod.js';
import type { RuntimePod } from '../runtime-pod.js';
import { effectiveGracePeriod } from './grace-period.js';
import { foldPodUpdate, mergeCauses, type PodUpdate, type PodUpdateType } from './pod-update.js';
import {
  type ActiveUpdate,
  fullNameOf,
  isTerminationRequested,
  newRecord,
  podOf,
  refOf,
  type PodWorkerRecord,
  workTypeOf,
  type WorkType,
} from './pod-worker-record.js';
import { StaticPodTurns } from './static-pod-turns.js';

/** What reaches the worker of a pod: a reason to look at its record, or the end of it. */
export type Delivery =
  | {
      readonly kind: 'wake';
      readonly uid: string;
      /** The run in flight has to let go: the pod stops, or has less time to stop than before. */
      readonly cancel: boolean;
    }
  | { readonly kind: 'forget'; readonly uid: string; readonly pod: PodRef };

/** What one run of a worker works on. */
export interface Run {
  readonly uid: string;
  readonly work: WorkType;
  readonly type: PodUpdateType;
  readonly pod?: Pod;
  readonly mirrorPod?: Pod;
  readonly runningPod?: RuntimePod;
  /** Seconds; undefined leaves it to the pod itself. */
  readonly graceSeconds?: number;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  readonly startedAt?: number;
  /** This run is the first of its pod. */
  readonly isFirst: boolean;
  readonly lastSyncAt: number;
  readonly causes: readonly JournalId[];
}

export type Start =
  | { readonly kind: 'run'; readonly run: Run }
  /** Nothing waits; the wake was for an update that is taken already. */
  | { readonly kind: 'idle' }
  /** Another static pod of the same full name goes first. */
  | { readonly kind: 'not-yet'; readonly pod: PodRef; readonly holder: PodRef; readonly causes: readonly JournalId[] }
  /** Stopped before it ever ran: there is nothing to do, ever. */
  | {
      readonly kind: 'never';
      readonly pod: PodRef;
      readonly deliveries: readonly Delivery[];
      readonly causes: readonly JournalId[];
    };

export type RunResult =
  | { readonly error: unknown }
  | {
      readonly isTerminal: boolean;
      /** The run has made way for what the next one does: that one follows at once. */
      readonly isUnfinished?: boolean;
    };

export interface Completion {
  /** `again`: an update waits already; `advance`: the next phase starts at once; `rest`: look again later; `exit`: for good. */
  readonly next: 'again' | 'advance' | 'rest' | 'exit';
  readonly deliveries: readonly Delivery[];
}

export interface KnownPod {
  readonly work: WorkType;
  readonly isOrphan: boolean;
  readonly hasConfig: boolean;
  readonly isStatic: boolean;
}

/**
 * The records of all pod workers and every rule about them: what an update means in each state, when a pod may start,
 * what follows a run. Purely sequential and free of time: callers pass `now` (ms). Streams only carry its answers.
 *
 * Source: pkg/kubelet/pod_workers.go
 */
export class PodWorkerRegistry {
  readonly #records = new Map<string, PodWorkerRecord>();
  readonly #turns = new StaticPodTurns();
  readonly #claims = new Set<string>();
  /** `isQuiet(uid)`: the last view of the runtime shows neither a running container nor a ready sandbox of that pod. */
  readonly #isQuiet: (uid: string) => boolean;
  #podsSynced = false;

  constructor(isQuiet: (uid: string) => boolean = () => true) {
    this.#isQuiet = isQuiet;
  }

  /** What `update` asks of its worker; none when the record alone takes note of it. */
  update(update: PodUpdate, now: number): readonly Delivery[] {
    const uid = update.pod?.metadata.uid ?? update.runningPod?.uid;
    if (uid === undefined) return [];
    const isRuntimeOnly = update.pod === undefined;
    if (isRuntimeOnly && update.type !== 'kill') return [];

    const known = this.#records.get(uid);
    let record = known ?? this.#firstSight(uid, update, now);
    let next: PodUpdate = update.pod ? { ...update, runningPod: undefined } : update;
    if (isRuntimeOnly) {
      record = { ...record, observedRuntime: true };
      const pod = record.pending?.pod ?? record.active?.pod;
      if (pod) next = { ...next, pod, runningPod: undefined };
    }
    if (known && isTerminationRequested(known) && update.type === 'create') {
      this.#records.set(uid, { ...record, restartRequested: true });
      return [];
    }
    if (record.finished) {
      this.#records.set(uid, record);
      return [];
    }

    const wasTerminating = isTerminationRequested(record);
    if (!wasTerminating) record = requestTermination(record, update, now);
    let isShortened = false;
    if (record.terminatedAt !== undefined) {
      if (isRuntimeOnly) {
        this.#records.set(uid, record);
        return [];
      }
      next = { ...next, kill: undefined };
    } else if (isTerminationRequested(record)) {
      const grace = effectiveGracePeriod(record.graceSeconds, next.pod, next.kill?.graceSeconds);
      isShortened = grace.isShortened;
      record = {
        ...record,
        graceSeconds: grace.seconds,
        statusOverride: next.kill?.statusOverride ?? record.statusOverride,
      };
      next = { ...next, kill: { ...next.kill, graceSeconds: grace.seconds } };
    } else {
      next = { ...next, kill: undefined };
    }

    if (!known && next.pod && isStaticPod(next.pod)) this.#turns.queue(record.fullName, uid);
    this.#records.set(uid, { ...record, pending: foldPodUpdate(record.pending, next), working: true });
    const becameTerminating = !wasTerminating && isTerminationRequested(record);
    return [{ kind: 'wake', uid, cancel: becameTerminating || isShortened }];
  }

  /** Takes the pending update of `uid`, if its worker may run now. Source: startPodSync */
  start(uid: string, now: number): Start {
    const record = this.#records.get(uid);
    const update = record?.pending;
    if (!record || !update) {
      if (record) this.#records.set(uid, { ...record, working: false });
      return { kind: 'idle' };
    }
    const work = workTypeOf(record);
    const isRuntimeOnly = !update.pod && update.runningPod !== undefined;
    if (record.startedAt === undefined && !(isRuntimeOnly && work === 'terminating')) {
      const verdict = this.#mayStart(record, update);
      if (verdict === 'not-yet') {
        this.#records.set(uid, { ...record, working: false });
        const holder = this.#records.get(this.#turns.nextOf(record.fullName) ?? '') ?? record;
        return { kind: 'not-yet', pod: refOf(record), holder: refOf(holder), causes: update.causes };
      }
      if (verdict === 'never') {
        this.#records.set(uid, { ...record, pending: undefined, finished: true, working: false, terminatedAt: now });
        return { kind: 'never', pod: refOf(record), deliveries: this.#release(record), causes: update.causes };
      }
    }
    const active = mergeActive(record.active, update);
    const isFirst = record.active === undefined;
    this.#records.set(uid, {
      ...record,
      pending: undefined,
      active,
      startedAt: record.startedAt ?? (isRuntimeOnly ? undefined : now),
    });
    return {
      kind: 'run',
      run: {
        uid,
        work,
        type: update.type,
        ...active,
        graceSeconds: active.kill?.graceSeconds,
        statusOverride: record.statusOverride,
        startedAt: update.startedAt,
        isFirst,
        lastSyncAt: record.lastSyncAt,
        causes: update.causes,
      },
    };
  }

  /** The worker takes notice of the termination: from here on the pod's containers should be terminating. */
  acknowledgeTermination(uid: string): void {
    this.#change(uid, (record) => ({ ...record, startedTerminating: true }));
  }

  /** A run has touched the pod: the next one waits for a view of the runtime that is newer than `now`. */
  synced(uid: string, now: number): void {
    this.#change(uid, (record) => ({ ...record, lastSyncAt: now }));
  }

  /** What follows the run of `work` that just ended. Source: completeWork, completeSync, completeTerminating, ... */
  complete(uid: string, work: WorkType, result: RunResult, now: number): Completion {
    const record = this.#records.get(uid);
    if (!record) return { next: 'exit', deliveries: [] };
    if ('error' in result) return this.#rest(record);
    if (work === 'terminated') {
      this.#records.set(uid, { ...record, pending: undefined, finished: true, working: false });
      return { next: 'exit', deliveries: this.#release(record) };
    }
    if (work === 'terminating') {
      if (!record.active?.pod) {
        this.#records.delete(uid);
        return { next: 'exit', deliveries: [...this.#release(record), { kind: 'forget', uid, pod: refOf(record) }] };
      }
      return this.#advance({ ...record, terminatedAt: now, statusOverride: undefined });
    }
    if (!result.isTerminal) return this.#rest(result.isUnfinished ? replayed(record) : record);
    return this.#advance({ ...record, terminatingAt: record.terminatingAt ?? now, startedTerminating: true });
  }

  /**
   * Compares with the pods that are desired: orphans are stopped, finished ones forgotten. The caller sends `create` for
   * desired pods that are not in the result.
   */
  syncKnownPods(
    desired: ReadonlySet<string>,
    now: number,
  ): { readonly known: ReadonlyMap<string, KnownPod>; readonly deliveries: readonly Delivery[] } {
    this.#podsSynced = true;
    const known = new Map<string, KnownPod>();
    const deliveries: Delivery[] = [];
    for (const [uid, record] of [...this.#records]) {
      const isOrphan = !desired.has(uid);
      if (isOrphan || record.restartRequested) {
        const kept = this.#retire(record, isOrphan, now);
        deliveries.push(...kept.deliveries);
        if (!kept.record) continue;
      }
      const current = this.#records.get(uid)!;
      const pod = podOf(current);
      known.set(uid, {
        work: workTypeOf(current),
        isOrphan,
        hasConfig: pod !== undefined,
        isStatic: pod !== undefined && isStaticPod(pod),
      });
    }
    return { known, deliveries };
  }

  record(uid: string): PodWorkerRecord | undefined {
    return this.#records.get(uid);
  }

  /**
   * Whoever stops a pod that nobody works on claims it, so that nobody else stops it at the same time; the result gives it back.
   * Undefined while its worker is at it, or it is claimed. One that waits for its turn is not worked on.
   */
  claim(uid: string): (() => void) | undefined {
    const record = this.#records.get(uid);
    const isWaiting = record?.startedAt === undefined && record && podOf(record) !== undefined;
    if ((record && !isWaiting) || this.#claims.has(uid)) return undefined;
    this.#claims.add(uid);
    return () => this.#claims.delete(uid);
  }

  isClaimed(uid: string): boolean {
    return this.#claims.has(uid);
  }

  records(): Iterable<PodWorkerRecord> {
    return this.#records.values();
  }

  /** Nothing is remembered of any pod, nor of any full name. */
  get isEmpty(): boolean {
    return this.#records.size === 0 && this.#turns.size === 0;
  }

  isKnownTerminated(uid: string): boolean {
    return this.#records.get(uid)?.terminatedAt !== undefined;
  }

  couldHaveRunningContainers(uid: string): boolean {
    const record = this.#records.get(uid);
    return record ? record.terminatedAt === undefined : !this.#podsSynced;
  }

  shouldBeFinished(uid: string): boolean {
    return this.#records.get(uid)?.finished ?? this.#podsSynced;
  }

  isTerminationRequested(uid: string): boolean {
    const record = this.#records.get(uid);
    return record !== undefined && isTerminationRequested(record);
  }

  shouldContainersBeTerminating(uid: string): boolean {
    return this.#records.get(uid)?.startedTerminating ?? this.#podsSynced;
  }

  shouldRuntimeBeRemoved(uid: string): boolean {
    const record = this.#records.get(uid);
    return record ? record.terminatedAt !== undefined : this.#podsSynced;
  }

  shouldContentBeRemoved(uid: string): boolean {
    const record = this.#records.get(uid);
    return record ? record.evicted || (record.deleted && record.terminatedAt !== undefined) : this.#podsSynced;
  }

  /** The static pod that holds `fullName` is stopping but has not stopped: its mirror must stay. */
  isTerminatingByFullName(fullName: string): boolean {
    const holder = this.#turns.holderOf(fullName);
    const record = holder === undefined ? undefined : this.#records.get(holder);
    return record !== undefined && isTerminationRequested(record) && record.terminatedAt === undefined;
  }

  #firstSight(uid: string, update: PodUpdate, now: number): PodWorkerRecord {
    const record = newRecord(uid, fullNameOf(update), now);
    if (!isTerminalPhase(update.pod?.status?.phase) || !this.#isQuiet(uid)) return record;
    return { ...record, terminatingAt: now, terminatedAt: now, startedTerminating: true };
  }

  #mayStart(record: PodWorkerRecord, { pod }: PodUpdate): 'start' | 'not-yet' | 'never' {
    if (!pod) return 'never';
    if (!isStaticPod(pod)) return 'start';
    if (isTerminationRequested(record)) return 'never';
    return this.#turns.take(record.fullName, record.uid, this.#mayTakeTurn) ? 'start' : 'not-yet';
  }

  readonly #mayTakeTurn = (uid: string): boolean => {
    const record = this.#records.get(uid);
    return record !== undefined && !isTerminationRequested(record);
  };

  /** Ours alone: upstream lets the next one find out by polling every 10 s, here it is woken at once. */
  #release({ fullName, uid }: PodWorkerRecord): readonly Delivery[] {
    const next = this.#turns.release(fullName, uid, this.#mayTakeTurn);
    return next === undefined ? [] : [{ kind: 'wake', uid: next, cancel: false }];
  }

  #change(uid: string, change: (record: PodWorkerRecord) => PodWorkerRecord): void {
    const record = this.#records.get(uid);
    if (record) this.#records.set(uid, change(record));
  }

  #rest(record: PodWorkerRecord): Completion {
    const next = record.pending ? 'again' : 'rest';
    this.#records.set(record.uid, { ...record, working: record.pending !== undefined });
    return { next, deliveries: [] };
  }

  #advance(record: PodWorkerRecord): Completion {
    this.#records.set(record.uid, replayed(record));
    return { next: 'advance', deliveries: [] };
  }

  #retire(
    record: PodWorkerRecord,
    isOrphan: boolean,
    now: number,
  ): { readonly record?: PodWorkerRecord; readonly deliveries: readonly Delivery[] } {
    const { uid } = record;
    if (!record.finished) {
      if (!isOrphan) return { record, deliveries: [] };
      if (record.startedAt !== undefined || record.observedRuntime) {
        const stopping = isTerminationRequested(record)
          ? record
          : {
              ...record,
              terminatingAt: now,
              graceSeconds: record.active?.pod
                ? effectiveGracePeriod(record.graceSeconds, record.active.pod, undefined).seconds
                : 1,
            };
        const orphan = replayed({ ...stopping, deleted: true });
        this.#records.set(uid, orphan);
        return { record: orphan, deliveries: [{ kind: 'wake', uid, cancel: false }] };
      }
    }
    this.#records.delete(uid);
    return { deliveries: [...this.#release(record), { kind: 'forget', uid, pod: refOf(record) }] };
  }
}

/** First match decides why the pod stops; later kills only shorten the grace period. */
const requestTermination = (record: PodWorkerRecord, update: PodUpdate, now: number): PodWorkerRecord => {
  const terminating = { ...record, terminatingAt: now };
  if (!update.pod) return { ...terminating, deleted: true };
  if (update.pod.metadata.deletionTimestamp !== undefined) return { ...terminating, deleted: true };
  if (isTerminalPhase(update.pod.status?.phase)) return terminating;
  if (update.type === 'kill') return { ...terminating, evicted: update.kill?.evict === true };
  return record;
};

/** The last update once more, when nothing newer waits: the next phase works on the same pod. */
const replayed = (record: PodWorkerRecord): PodWorkerRecord => {
  if (record.pending || !record.active) return record;
  return { ...record, pending: { ...record.active, type: 'sync' }, working: true };
};

const mergeActive = (before: ActiveUpdate | undefined, update: PodUpdate): ActiveUpdate => ({
  pod: update.pod ?? before?.pod,
  runningPod: update.runningPod,
  mirrorPod: update.mirrorPod ?? before?.mirrorPod,
  kill: update.kill ? { evict: update.kill.evict, graceSeconds: update.kill.graceSeconds } : before?.kill,
  causes: mergeCauses(before?.causes ?? [], update.causes),
});
