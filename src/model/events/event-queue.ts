import type { CorrelatedEvent } from './event-correlator.js';

export interface QueuedEvent extends CorrelatedEvent {
  /** The number of events that are lost when it is dropped: more than one for an event that reports dropped ones. */
  readonly tells: number;
}

interface Entry {
  readonly queued: QueuedEvent;
  /** Not sent before this time, in the caller's milliseconds. */
  readonly notBefore: number;
  /** The number of times that it was put off. */
  readonly tries: number;
}

/**
 * Events that wait for the API server, in the order of their first occurrence. An event that occurs again while it
 * waits keeps its place: one entry, with the newest count. A full queue drops the event whose last occurrence is the
 * oldest, but never the event that is being sent: a condition that lasts matters more than one that is over.
 */
export class EventQueue {
  readonly #entries = new Map<string, Entry>();
  /** The same keys, by the time of the last occurrence: a search for the oldest among a thousand events is expensive. */
  readonly #byLastTime = new Set<string>();
  #sending: string | undefined;

  constructor(readonly limit: number) {}

  /** Adds or replaces; returns the event that was dropped for it. */
  put(queued: QueuedEvent): QueuedEvent | undefined {
    const { notBefore = -Infinity, tries = 0 } = this.#entries.get(queued.key) ?? {};
    this.#entries.set(queued.key, { queued, notBefore, tries });
    this.#byLastTime.delete(queued.key);
    this.#byLastTime.add(queued.key);
    return this.#entries.size > this.limit ? this.#makeRoom() : undefined;
  }

  /** Returns the first event that may be sent at `now`, which stays in the queue; it is being sent from then on. */
  first(now: number): QueuedEvent | undefined {
    for (const { queued, notBefore } of this.#entries.values()) {
      if (notBefore > now) continue;
      this.#sending = queued.key;
      return queued;
    }
    return undefined;
  }

  /** Returns the newest state of the event. */
  get(key: string): QueuedEvent | undefined {
    return this.#entries.get(key)?.queued;
  }

  /** Returns the time until an event may be sent; undefined for an empty queue. */
  waitFrom(now: number): number | undefined {
    const waits = [...this.#entries.values()].map(({ notBefore }) => Math.max(0, notBefore - now));
    return waits.length === 0 ? undefined : waits.reduce((one, other) => Math.min(one, other));
  }

  /** Moves an event behind all others and puts it off until a time; returns how many times it was put off. */
  putOff(key: string, notBefore: number): number {
    const entry = this.#entries.get(key);
    if (!entry) return 0;
    this.#entries.delete(key);
    this.#entries.set(key, { ...entry, notBefore, tries: entry.tries + 1 });
    return entry.tries + 1;
  }

  /** Removes the event that was sent; if it occurred again meanwhile, it stays. */
  sent(queued: QueuedEvent): void {
    const entry = this.#entries.get(queued.key);
    if (entry?.queued === queued) this.remove(queued.key);
    else if (entry) this.#entries.set(queued.key, { ...entry, notBefore: -Infinity, tries: 0 });
  }

  /** Drops the event with all of its occurrences; returns its newest state. */
  remove(key: string): QueuedEvent | undefined {
    const queued = this.get(key);
    this.#entries.delete(key);
    this.#byLastTime.delete(key);
    return queued;
  }

  get size(): number {
    return this.#entries.size;
  }

  #makeRoom(): QueuedEvent | undefined {
    for (const key of this.#byLastTime) if (key !== this.#sending) return this.remove(key);
    return undefined;
  }
}
