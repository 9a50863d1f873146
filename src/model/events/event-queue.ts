import type { CorrelatedEvent } from './event-correlator.js';

export interface QueuedEvent extends CorrelatedEvent {
  /** How many events go with it when it is dropped: more than one for an event that tells of dropped ones. */
  readonly tells: number;
}

/**
 * Events that wait for the API server, in the order in which they came first. An event that comes again while it waits takes its own
 * place: one entry, with the newest count. When there is no room, the one leaves that has not come again for the longest time, but
 * never the first, which is being sent: what lasts matters more than what was.
 */
export class EventQueue {
  readonly #entries = new Map<string, { readonly queued: QueuedEvent; readonly turn: number }>();
  #turn = 0;

  constructor(readonly limit: number) {}

  /** Adds or replaces; gives back what had to leave for it. */
  put(queued: QueuedEvent): QueuedEvent | undefined {
    this.#turn += 1;
    this.#entries.set(queued.key, { queued, turn: this.#turn });
    return this.#entries.size > this.limit ? this.#makeRoom() : undefined;
  }

  /** The first one, as it is now. It stays. */
  first(): QueuedEvent | undefined {
    for (const { queued } of this.#entries.values()) return queued;
    return undefined;
  }

  /** The event was sent as it is given here; if it came again meanwhile, it stays. */
  sent(queued: QueuedEvent): void {
    if (this.#entries.get(queued.key)?.queued === queued) this.#entries.delete(queued.key);
  }

  /** Nothing of the event is to be sent, however often it came; gives back its newest state. */
  remove(key: string): QueuedEvent | undefined {
    const entry = this.#entries.get(key);
    this.#entries.delete(key);
    return entry?.queued;
  }

  get size(): number {
    return this.#entries.size;
  }

  #makeRoom(): QueuedEvent | undefined {
    let stalest: { readonly queued: QueuedEvent; readonly turn: number } | undefined;
    let isFirst = true;
    for (const entry of this.#entries.values()) {
      if (!isFirst && (!stalest || entry.turn < stalest.turn)) stalest = entry;
      isFirst = false;
    }
    return stalest && this.remove(stalest.queued.key);
  }
}
