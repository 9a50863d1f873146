import type { Subscription } from 'rxjs';
import type { ApiWatchMessage } from '../../../streams/ports/api-server.js';
import type { VirtualScheduler } from '../world/virtual-scheduler.js';

type Delivery = { readonly message: ApiWatchMessage } | { readonly error: Error } | { readonly isEnd: true };

/** The reader of a watch. */
export interface WatchReader {
  readonly next: (message: ApiWatchMessage) => void;
  readonly error: (error: Error) => void;
  readonly complete: () => void;
}

/** The way of one watch from the server to its reader: each message takes a while, and none overtakes another. */
export class WatchChannel {
  readonly #queue: Delivery[] = [];
  #lastAt = 0;
  #isSilent = false;
  #isOver = false;

  constructor(
    private readonly reader: WatchReader,
    private readonly way: {
      readonly scheduler: Pick<VirtualScheduler, 'now' | 'schedule'>;
      readonly latencyMs: () => number;
      /** Holds the messages on their way, so that they end with the reader. */
      readonly add: (teardown: Subscription) => void;
    },
  ) {}

  send(message: ApiWatchMessage): void {
    this.#put({ message });
  }

  /** The server ends the watch after all of its messages. */
  end(): void {
    this.#put({ isEnd: true });
  }

  /** The watch is answered with an error instead. */
  refuse(error: Error): void {
    this.#put({ error });
  }

  /** The connection breaks: messages on their way are lost. */
  reset(error: Error): void {
    if (this.#isOver) return;
    this.#queue.length = 0;
    this.#isSilent = false;
    this.#put({ error });
  }

  /** From now on no message arrives any more, and the reader is not notified. */
  fallSilent(): void {
    this.#isSilent = true;
    this.#queue.length = 0;
  }

  #put(delivery: Delivery): void {
    if (this.#isSilent || this.#isOver) return;
    const { scheduler, latencyMs, add } = this.way;
    this.#queue.push(delivery);
    const at = Math.max(this.#lastAt, scheduler.now() + latencyMs());
    this.#lastAt = at;
    add(scheduler.schedule(() => this.#deliver(), at - scheduler.now()));
  }

  /** Each timer delivers the message that was sent first. */
  #deliver(): void {
    const delivery = this.#queue.shift();
    if (!delivery || this.#isOver) return;
    if ('message' in delivery) return this.reader.next(delivery.message);
    this.#isOver = true;
    if ('error' in delivery) this.reader.error(delivery.error);
    else this.reader.complete();
  }
}
