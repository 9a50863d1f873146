import { Observable, Subject, type Subscriber } from 'rxjs';
import { emptyPodStatus, type RuntimePodStatus } from '../../model/pleg/runtime-pod.js';

/** The result of the last read of a pod: its status, or the error. */
export type PodReading =
  { readonly kind: 'status'; readonly status: RuntimePodStatus } | { readonly kind: 'error'; readonly error: unknown };

/** A reading with its times, in the scheduler's milliseconds. */
export type PodCacheEntry = PodReading & {
  /** The time of the request of this reading. */
  readonly modifiedAt: number;
  /** The last time at which the pod was known to be unchanged; never before `modifiedAt`. */
  readonly observedAt: number;
};

/**
 * The newest known status of each pod. Workers wait here for a newer one.
 *
 * All times are those of the *request* to the runtime, so a reply that is newer than the end of a sync shows its effects.
 * The clock of a real agent counts fractions of milliseconds: no two times are equal.
 *
 * Source: pkg/kubelet/container/cache.go, with the gate EventedPLEG off: a reading is never refused as too old.
 */
export interface PodCache {
  /** Replaces the entry of the pod and releases its waiters for `at` and earlier. */
  readonly set: (uid: string, reading: PodReading, at: number) => void;
  /** Declares the entry unchanged at `at`, if there is one, and releases the pod's waiters for `at` and earlier. */
  readonly setObservedTime: (uid: string, at: number) => void;
  /** Forgets the entry; releases no waiter. */
  readonly delete: (uid: string) => void;
  /** Declares every pod that is not held unchanged at `at`, and releases their waiters for `at` and earlier. */
  readonly updateTime: (at: number) => void;
  /**
   * From now on the global time does not count for this pod, since its entry is known to be outdated. Only `set`,
   * `setObservedTime` and `release` release its waiters.
   */
  readonly hold: (uid: string) => void;
  /** The global time counts for the pod again; releases the waiters for that time and earlier. */
  readonly release: (uid: string) => void;
  /** The last reading; an empty status for a pod that the runtime does not have. */
  readonly get: (uid: string) => PodReading;
  readonly entries: () => ReadonlyMap<string, PodCacheEntry>;
  /**
   * Emits the first status that is newer than `timeMs`, at once if the cache has one, and completes. Emits an empty status for a
   * pod that the runtime does not have. Unsubscribing forgets the waiter. Errors: the error of the reading.
   */
  readonly newerThan: (uid: string, timeMs: number) => Observable<RuntimePodStatus>;
  /** Emits the UID of each pod whose entry was replaced or forgotten, after its waiters were released. Errors: none. Ends: never. */
  readonly read$: Observable<string>;
}

interface Waiter {
  readonly timeMs: number;
  readonly subscriber: Subscriber<RuntimePodStatus>;
}

export const createPodCache = (): PodCache => {
  const entries = new Map<string, PodCacheEntry>();
  const waiters = new Map<string, Set<Waiter>>();
  /** By UID: the global time when the pod was held. */
  const held = new Map<string, number>();
  let globalTime = -Infinity;
  const read$ = new Subject<string>();

  const get = (uid: string): PodReading =>
    entries.get(uid) ?? { kind: 'status', status: emptyPodStatus({ uid, namespace: '', name: '' }) };

  const deliver = (uid: string, subscriber: Subscriber<RuntimePodStatus>): void => {
    const reading = get(uid);
    if (reading.kind === 'error') return subscriber.error(reading.error);
    subscriber.next(reading.status);
    subscriber.complete();
  };

  const forget = (uid: string, waiter: Waiter): void => {
    const ofPod = waiters.get(uid);
    if (ofPod?.delete(waiter) && ofPod.size === 0) waiters.delete(uid);
  };

  /** A released waiter may subscribe again at once, so the list of waiters to release is complete before the first one emits. */
  const notify = (uid: string, at: number): void => {
    const released = [...(waiters.get(uid) ?? [])].filter(({ timeMs }) => timeMs <= at);
    for (const waiter of released) forget(uid, waiter);
    for (const { subscriber } of released) deliver(uid, subscriber);
  };

  const isNewerThan = (uid: string, timeMs: number): boolean => {
    const entry = entries.get(uid);
    if ((held.get(uid) ?? globalTime) > timeMs) return true;
    return entry !== undefined && (entry.modifiedAt > timeMs || entry.observedAt > timeMs);
  };

  return {
    set: (uid, reading, at) => {
      entries.set(uid, { ...reading, modifiedAt: at, observedAt: at });
      notify(uid, at);
      read$.next(uid);
    },
    setObservedTime: (uid, at) => {
      const entry = entries.get(uid);
      if (entry) entries.set(uid, { ...entry, observedAt: at });
      notify(uid, at);
    },
    delete: (uid) => {
      if (entries.delete(uid)) read$.next(uid);
    },
    updateTime: (at) => {
      globalTime = at;
      for (const uid of [...waiters.keys()]) if (!held.has(uid)) notify(uid, at);
    },
    hold: (uid) => {
      if (!held.has(uid)) held.set(uid, globalTime);
    },
    release: (uid) => {
      if (held.delete(uid)) notify(uid, globalTime);
    },
    get,
    entries: () => entries,
    newerThan: (uid, timeMs): Observable<RuntimePodStatus> =>
      new Observable((subscriber) => {
        if (isNewerThan(uid, timeMs)) return deliver(uid, subscriber);
        const waiter: Waiter = { timeMs, subscriber };
        const ofPod = waiters.get(uid) ?? new Set();
        waiters.set(uid, ofPod.add(waiter));
        return () => forget(uid, waiter);
      }),
    read$,
  };
};
