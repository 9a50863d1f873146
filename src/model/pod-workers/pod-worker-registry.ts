import { isStaticPod, isTerminalPhase, type PodRef } from '../pod/pod.js';
import { effectiveGracePeriod } from './grace-period.js';
import { foldPodUpdate, type PodUpdate } from './pod-update.js';
import {
  fullNameOf,
  isTerminationRequested,
  newRecord,
  podOf,
  refOf,
  type PodWorkerRecord,
  workTypeOf,
  type WorkType,
} from './pod-worker-record.js';
import type { Completion, RunResult, Start } from './pod-worker-run.js';
import { isMove, isStopping, mergeActive, replayed, requestTermination } from './record-rules.js';
import { StaticPodTurns } from './static-pod-turns.js';
import type { Wake } from './wake.js';

/** The pods of the registry after it was compared with the desired pods. */
export interface KnownPods {
  readonly known: ReadonlyMap<string, KnownPod>;
  readonly wakes: readonly Wake[];
  /** The pods whose records are dropped. */
  readonly forgotten: readonly PodRef[];
}

export interface KnownPod {
  readonly work: WorkType;
  readonly isOrphan: boolean;
  readonly hasConfig: boolean;
  readonly isStatic: boolean;
}

/**
 * The records of all pod workers and every rule about them: the effect of an update in each state, when a pod may start, and what
 * follows a run. It has no clock: callers pass `now` in milliseconds.
 *
 * Source: pkg/kubelet/pod_workers.go
 */
export class PodWorkerRegistry {
  readonly #records = new Map<string, PodWorkerRecord>();
  readonly #turns = new StaticPodTurns();
  /** UIDs of pods that another part than their worker stops. */
  readonly #reservedKills = new Set<string>();
  /** `isQuiet(uid)`: the last view of the runtime shows neither a running container nor a ready sandbox of that pod. */
  readonly #isQuiet: (uid: string) => boolean;
  #podsSynced = false;

  constructor(isQuiet: (uid: string) => boolean = () => true) {
    this.#isQuiet = isQuiet;
  }

  /** Stores `update` and returns the wake of its worker; none if the worker has nothing to do for it. */
  update(update: PodUpdate, now: number): readonly Wake[] {
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
    const pending = foldPodUpdate(record.pending, next);
    this.#records.set(uid, { ...record, pending, working: true });
    const becameTerminating = !wasTerminating && isTerminationRequested(record);
    return [{ uid, update: pending, cancel: becameTerminating || isShortened }];
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
        const holder =
          this.#movedFrom(record) ?? this.#records.get(this.#turns.nextOf(record.fullName) ?? '') ?? record;
        return { kind: 'not-yet', pod: refOf(record), holder: refOf(holder), causes: update.causes };
      }
      if (verdict === 'never') {
        this.#records.set(uid, { ...record, pending: undefined, finished: true, working: false, terminatedAt: now });
        return { kind: 'never', pod: refOf(record), wakes: this.#release(record), causes: update.causes };
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

  /** A run has changed the pod: the next run needs a view of the runtime that is newer than `now`. */
  synced(uid: string, now: number): void {
    const record = this.#records.get(uid);
    if (record) this.#records.set(uid, { ...record, lastSyncAt: now });
  }

  /** Takes the end of a run of `work` and returns what follows. Source: completeWork, completeSync, completeTerminating, ... */
  complete(uid: string, work: WorkType, result: RunResult, now: number): Completion {
    const record = this.#records.get(uid);
    if (!record) return { next: 'exit', others: [] };
    if ('error' in result) return this.#rest(record);
    if (work === 'terminated') {
      this.#records.set(uid, { ...record, pending: undefined, finished: true, working: false });
      return { next: 'exit', others: this.#release(record) };
    }
    if (work === 'terminating') {
      if (!record.active?.pod) {
        this.#records.delete(uid);
        return { next: 'exit', others: this.#release(record), forgotten: refOf(record) };
      }
      return this.#advance({ ...record, terminatedAt: now, statusOverride: undefined });
    }
    if (!result.isTerminal) return this.#rest(result.isUnfinished ? replayed(record) : record);
    return this.#advance({ ...record, terminatingAt: record.terminatingAt ?? now });
  }

  /**
   * Compares the records with the desired pods: stops orphans and drops the records of finished ones. The caller updates the desired
   * pods that are not in the result with `create`. Once `areAllHeard`, a pod without a record is one that no source wants.
   */
  syncKnownPods(desired: ReadonlySet<string>, now: number, areAllHeard = true): KnownPods {
    this.#podsSynced ||= areAllHeard;
    const known = new Map<string, KnownPod>();
    const wakes: Wake[] = [];
    const forgotten: PodRef[] = [];
    for (const [uid, record] of [...this.#records]) {
      const isOrphan = !desired.has(uid);
      if (isOrphan || record.restartRequested) {
        const retired = this.#retire(record, isOrphan, now);
        wakes.push(...retired.wakes);
        if (retired.isForgotten) {
          forgotten.push(refOf(record));
          continue;
        }
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
    return { known, wakes, forgotten };
  }

  record(uid: string): PodWorkerRecord | undefined {
    return this.#records.get(uid);
  }

  /**
   * Reserves the stop of a pod that no worker works on, until `releaseKill`. Returns false if it is reserved already, or if the
   * pod's worker works. A worker that waits for its turn does not work.
   */
  reserveKill(uid: string): boolean {
    const record = this.#records.get(uid);
    const isWaiting = record?.startedAt === undefined && record && podOf(record) !== undefined;
    if ((record && !isWaiting) || this.#reservedKills.has(uid)) return false;
    this.#reservedKills.add(uid);
    return true;
  }

  releaseKill(uid: string): void {
    this.#reservedKills.delete(uid);
  }

  isKillReserved(uid: string): boolean {
    return this.#reservedKills.has(uid);
  }

  /** Whether this agent has had a configuration of the pod, and its turn has come. */
  hasStarted(uid: string): boolean {
    const record = this.#records.get(uid);
    return record?.startedAt !== undefined && podOf(record) !== undefined;
  }

  records(): Iterable<PodWorkerRecord> {
    return this.#records.values();
  }

  /** There is no record of a pod and no full name in use. */
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

  shouldContentBeRemoved(uid: string): boolean {
    const record = this.#records.get(uid);
    return record ? record.evicted || (record.deleted && record.terminatedAt !== undefined) : this.#podsSynced;
  }

  /** Whether the static pod of `fullName` is stopping but has not stopped: then its mirror pod must stay. */
  isTerminatingByFullName(fullName: string): boolean {
    const holder = this.#turns.holderOf(fullName);
    const record = holder === undefined ? undefined : this.#records.get(holder);
    return record !== undefined && isTerminationRequested(record) && record.terminatedAt === undefined;
  }

  #firstSight(uid: string, update: PodUpdate, now: number): PodWorkerRecord {
    const record = newRecord(uid, fullNameOf(update), now);
    if (!isTerminalPhase(update.pod?.status?.phase) || !this.#isQuiet(uid)) return record;
    return { ...record, terminatingAt: now, terminatedAt: now };
  }

  #mayStart(record: PodWorkerRecord, { pod }: PodUpdate): 'start' | 'not-yet' | 'never' {
    if (!pod) return 'never';
    if (!isStaticPod(pod)) return 'start';
    if (isTerminationRequested(record)) return 'never';
    if (this.#movedFrom(record)) return 'not-yet';
    return this.#turns.take(record.fullName, record.uid, this.#mayTakeTurn) ? 'start' : 'not-yet';
  }

  readonly #mayTakeTurn = (uid: string): boolean => {
    const record = this.#records.get(uid);
    return record !== undefined && !isTerminationRequested(record);
  };

  /**
   * Returns the pod that has to stop before the static pod may start, although it has another full name: its manifest was given
   * another namespace, and the new pod needs the ports and volumes of the old one as after any other edit.
   */
  #movedFrom(record: PodWorkerRecord): PodWorkerRecord | undefined {
    for (const other of this.#records.values())
      if (isStopping(other) && isMove(podOf(other), podOf(record))) return other;
    return undefined;
  }

  /** Returns the wakes of the next static pod, and of those that were given another namespace. Upstream polls every 10 s. */
  #release(record: PodWorkerRecord): readonly Wake[] {
    const next = this.#turns.release(record.fullName, record.uid, this.#mayTakeTurn);
    const moved = [...this.#records.values()].filter(
      (other) => other.startedAt === undefined && isMove(podOf(record), podOf(other)),
    );
    return [...(next === undefined ? [] : [next]), ...moved.map(({ uid }) => uid)].flatMap((uid) => {
      const update = this.#records.get(uid)?.pending;
      return update ? [{ uid, update, cancel: false }] : [];
    });
  }

  #rest(record: PodWorkerRecord): Completion {
    const { uid, pending } = record;
    this.#records.set(uid, { ...record, working: pending !== undefined });
    if (!pending) return { next: 'rest', others: [] };
    return { next: 'again', own: { uid, update: pending, cancel: false }, others: [] };
  }

  #advance(record: PodWorkerRecord): Completion {
    const next = replayed(record);
    this.#records.set(record.uid, next);
    const own = next.pending && { uid: record.uid, update: next.pending, cancel: false };
    return { next: 'advance', own, others: [] };
  }

  #retire(
    record: PodWorkerRecord,
    isOrphan: boolean,
    now: number,
  ): { readonly isForgotten: boolean; readonly wakes: readonly Wake[] } {
    const { uid } = record;
    if (!record.finished) {
      if (!isOrphan) return { isForgotten: false, wakes: [] };
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
        const update = orphan.pending;
        return { isForgotten: false, wakes: update ? [{ uid, update, cancel: false }] : [] };
      }
    }
    this.#records.delete(uid);
    return { isForgotten: true, wakes: this.#release(record) };
  }
}
