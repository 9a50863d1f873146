import type { CorrelatedEvent } from './event-correlator.js';

export interface QueuedEvent extends CorrelatedEvent {
  /** How many events go with it when it is dropped: more than one for an event that tells of dropped ones. */
  readonly tells: number;
}

interface Entry {
  readonly queued: QueuedEvent;
  /** When it came last, among all of them. */
  readonly turn: number;
  /** It is not to be sent before, in the time of whoever asks. */
  readonly notBefore: number;
  /** How often it was put off. */
  readonly tries: number;
}

/**
 * Events that wait for the API server, in the order in which they came first. An event that comes again while it waits takes its own
 * place: one entry, with the newest count. When there is no room, the one leaves that has not come again for the longest time, but
 * never the one that is being sent: what lasts matters more than what was.
 */
export class EventQueue {
  readonly #entries = new Map<string, Entry>();
  #turn = 0;
  #sending: string | undefined;

  constructor(readonly limit: number) {}

  /** Adds or replaces; gives back what had to leave for it. */
  put(queued: QueuedEvent): QueuedEvent | undefined {
    this.#turn += 1;
    const { notBefore = -Infinity, tries = 0 } = this.#entries.get(queued.key) ?? {};
    this.#entries.set(queued.key, { queued, turn: this.#turn, notBefore, tries });
    return this.#entries.size > this.limit ? this.#makeRoom() : undefined;
  }

  /** The first one that may be sent at `now`, which stays; it is the one that is being sent from then on. */
  first(now: number): QueuedEvent | undefined {
    for (const { queued, notBefore } of this.#entries.values()) {
      if (notBefore > now) continue;
      this.#sending = queued.key;
      return queued;
    }
    return undefined;
  }

  /** The event as it is now. */
  get(key: string): QueuedEvent | undefined {
    return this.#entries.get(key)?.queued;
  }

  /** How long until there is one that may be sent; undefined while there is none at all. */
  waitFrom(now: number): number | undefined {
    const waits = [...this.#entries.values()].map(({ notBefore }) => Math.max(0, notBefore - now));
    return waits.length === 0 ? undefined : waits.reduce((one, other) => Math.min(one, other));
  }

  /** Puts it behind all others and not before a time; says how often that was done. */
  putOff(key: string, notBefore: number): number {
    const entry = this.#entries.get(key);
    if (!entry) return 0;
    this.#entries.delete(key);
    this.#entries.set(key, { ...entry, notBefore, tries: entry.tries + 1 });
    return entry.tries + 1;
  }

  /** The event was sent as it is given here; if it came again meanwhile, it stays. */
  sent(queued: QueuedEvent): void {
    const entry = this.#entries.get(queued.key);
    if (entry?.queued === queued) this.#entries.delete(queued.key);
    else if (entry) this.#entries.set(queued.key, { ...entry, notBefore: -Infinity, tries: 0 });
  }

  /** Nothing of the event is to be sent, however often it came; gives back its newest state. */
  remove(key: string): QueuedEvent | undefined {
    const queued = this.get(key);
    this.#entries.delete(key);
    return queued;
  }

  get size(): number {
    return this.#entries.size;
  }

  #makeRoom(): QueuedEvent | undefined {
    let stalest: Entry | undefined;
    for (const entry of this.#entries.values()) {
      if (entry.queued.key === this.#sending) continue;
      if (!stalest || entry.turn < stalest.turn) stalest = entry;
    }
    return stalest && this.remove(stalest.queued.key);
  }
}
