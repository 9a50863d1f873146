import { Observable, type Subscriber } from 'rxjs';
import { emptyPodStatus, type RuntimePodStatus } from '../model/runtime-pod.js';

/** What the last read of a pod gave: its status, or why there is none. */
export type PodReading =
  { readonly kind: 'status'; readonly status: RuntimePodStatus } | { readonly kind: 'error'; readonly error: unknown };

/** A reading with its times, in the scheduler's milliseconds. */
export type PodCacheEntry = PodReading & {
  /** When the runtime was asked for this reading. */
  readonly modifiedAt: number;
  /** When the pod was last known to be as the reading says; never cached before `modifiedAt` was. */
  readonly observedAt: number;
};

/**
 * The newest known status of every pod, and a place to wait for a newer one.
 *
 * All times are those at which the runtime was *asked*, so an answer that is newer than the end of a sync cannot be of before it.
 * The clock of a real agent counts fractions of milliseconds: two moments are never the same.
 *
 * Source: pkg/kubelet/container/cache.go, with the gate EventedPLEG off: a reading is never refused as too old.
 */
export interface PodCache {
  /** Replaces the entry of the pod and releases its waiters for `at` and earlier. */
  readonly set: (uid: string, reading: PodReading, at: number) => void;
  /** Declares the entry unchanged at `at`, if there is one, and releases the pod's waiters for `at` and earlier. */
  readonly setObservedTime: (uid: string, at: number) => void;
  /** Forgets the entry; wakes nobody. */
  readonly delete: (uid: string) => void;
  /** Declares every pod that is not held unchanged at `at`, and releases their waiters for `at` and earlier. */
  readonly updateTime: (at: number) => void;
  /**
   * From now on the global time says nothing about this pod, as its entry is known to be outdated: neither a time set later
   * nor one read later releases a waiter of it. Only `set`, `setObservedTime` and `release` do.
   */
  readonly hold: (uid: string) => void;
  /** The entry is as good as any other again; releases the waiters whom the global time let pass meanwhile. */
  readonly release: (uid: string) => void;
  /** The last reading, or the status of a pod that the runtime does not have. */
  readonly get: (uid: string) => PodReading;
  readonly entries: () => ReadonlyMap<string, PodCacheEntry>;
  /**
   * Emits once, as soon as the pod is known as it was after `timeMs`, and completes; at once if it is already. A pod that the
   * runtime does not have is known by an empty status. Unsubscribing forgets the waiter. Errors: the error of the reading.
   */
  readonly newerThan: (uid: string, timeMs: number) => Observable<RuntimePodStatus>;
}

interface Waiter {
  readonly timeMs: number;
  readonly subscriber: Subscriber<RuntimePodStatus>;
}

export const createPodCache = (): PodCache => {
  const entries = new Map<string, PodCacheEntry>();
  const waiters = new Map<string, Set<Waiter>>();
  /** The global time as it was when the pod was held. */
  const held = new Map<string, number>();
  let globalTime = -Infinity;

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

  /** Whoever is released may come back at once, so the list of whom to release is closed before the first one hears. */
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
    },
    setObservedTime: (uid, at) => {
      const entry = entries.get(uid);
      if (entry) entries.set(uid, { ...entry, observedAt: at });
      notify(uid, at);
    },
    delete: (uid) => void entries.delete(uid),
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
  };
};
