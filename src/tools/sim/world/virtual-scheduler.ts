import { type SchedulerAction, type SchedulerLike, Subscription } from 'rxjs';

export interface VirtualSchedulerOptions {
  /** The first value of `now`, in milliseconds. */
  readonly startMs?: number;
  /**
   * Orders actions that are due at the same instant after a delay, uniform in [0, 1): two such timers have no order in
   * real time either. First come, first served by default. Actions without delay always keep their order, as do those
   * that were scheduled at the same instant with the same delay.
   */
  readonly tieBreak?: () => number;
}

/** A part of a scheduler that can be closed as a whole. */
export interface SchedulerShare extends SchedulerLike {
  /** The pending actions of this part. After it was closed: the dropped actions that have not been cancelled since. */
  readonly pending: number;
  /** Drops every pending action; later ones are never run. */
  readonly close: () => void;
}

/** The part of an action. */
interface Share {
  pending: number;
  isClosed: boolean;
}

type Work<T> = (this: SchedulerAction<T>, state?: T) => void;

/** An action in the heap; stale once the action was scheduled again or cancelled. */
interface Entry {
  readonly at: number;
  readonly rank: number;
  readonly order: number;
  readonly action: VirtualAction<unknown>;
  readonly ticket: number;
}

const EARLIEST = Date.UTC(2026, 0, 1);
/** No correct program runs more actions at one instant. */
const MAX_ACTIONS_PER_INSTANT = 1_000_000;

/**
 * A clock that only advances on request, for years of simulated time in constant memory. Actions run in the order of
 * their times, each with `now` at exactly its time.
 *
 * Errors: an action's error is thrown by `runUntil` and `step`; a million actions at one instant throw, since time
 * stands still.
 */
export class VirtualScheduler implements SchedulerLike {
  readonly #tieBreak: (() => number) | undefined;
  readonly #own: Share = { pending: 0, isClosed: false };
  #heap: Entry[] = [];
  #now: number;
  #order = 0;
  #pending = 0;
  #atThisInstant = 0;
  /** The ranks of actions that were scheduled at the instant `#ranksOf`, by delay. */
  readonly #ranks = new Map<number, number>();
  #ranksOf = -Infinity;

  constructor({ startMs = EARLIEST, tieBreak }: VirtualSchedulerOptions = {}) {
    this.#now = startMs;
    this.#tieBreak = tieBreak;
  }

  readonly now = (): number => this.#now;

  /** The pending actions. */
  get pending(): number {
    return this.#pending;
  }

  /** The time of the next action; undefined without one. */
  get nextAt(): number | undefined {
    this.#dropStale();
    return this.#heap[0]?.at;
  }

  schedule<T>(work: Work<T>, delay = 0, state?: T): Subscription {
    return new VirtualAction<T>(this, work, this.#own).schedule(state, delay);
  }

  /**
   * Creates a part of this scheduler for a process that may die: all of its actions can be dropped at once. Its clock shows `behindMs`
   * less: that of another boot has begun later.
   */
  share(behindMs = 0): SchedulerShare {
    const share: Share = { pending: 0, isClosed: false };
    return {
      now: behindMs === 0 ? this.now : () => this.#now - behindMs,
      schedule: <T>(work: Work<T>, delay = 0, state?: T) =>
        share.isClosed ? Subscription.EMPTY : new VirtualAction<T>(this, work, share).schedule(state, delay),
      get pending() {
        return share.pending;
      },
      close: () => {
        if (share.isClosed) return;
        this.#pending -= share.pending;
        share.isClosed = true;
      },
    };
  }

  /** Runs the next action; false if there is none. */
  step(): boolean {
    this.#dropStale();
    const entry = this.#heap[0];
    if (!entry) return false;
    if (entry.at > this.#now) this.#atThisInstant = 0;
    else if (++this.#atThisInstant > MAX_ACTIONS_PER_INSTANT) throw new Error(`time stands still at ${this.#now} ms`);
    this.#now = Math.max(this.#now, entry.at);
    pop(this.#heap);
    this.done(entry.action.share);
    entry.action.execute();
    return true;
  }

  /** Runs every action that is due until then, and ends with `now` at that time. */
  runUntil(atMs: number): void {
    for (let next = this.nextAt; next !== undefined && next <= atMs; next = this.nextAt) this.step();
    this.#now = Math.max(this.#now, atMs);
  }

  /** @internal */
  push(action: VirtualAction<unknown>, delay: number, ticket: number, share: Share): void {
    const order = this.#order++;
    const rank = delay > 0 ? this.#rank(delay) : 1;
    this.#pending += 1;
    share.pending += 1;
    push(this.#heap, { at: this.#now + Math.max(0, delay), rank, order, action, ticket });
  }

  /** Timers that were set at one instant with equal delays keep their order, as they do in real time. */
  #rank(delay: number): number {
    if (!this.#tieBreak) return 1;
    if (this.#ranksOf !== this.#now) this.#ranks.clear();
    this.#ranksOf = this.#now;
    const known = this.#ranks.get(delay);
    if (known !== undefined) return known;
    const rank = this.#tieBreak();
    this.#ranks.set(delay, rank);
    return rank;
  }

  /** @internal */
  done(share: Share): void {
    this.#pending -= 1;
    share.pending -= 1;
  }

  /** @internal */
  cancelled(share: Share): void {
    this.done(share);
    // Timers that were cancelled long before they are due must not fill the memory.
    if (this.#heap.length > 1024 && this.#heap.length > 4 * this.#pending) {
      const live = this.#heap.filter(({ action, ticket }) => action.isDue(ticket));
      this.#heap = [];
      for (const entry of live) push(this.#heap, entry);
    }
  }

  #dropStale(): void {
    for (let entry = this.#heap[0]; entry && !entry.action.isDue(entry.ticket); entry = this.#heap[0]) pop(this.#heap);
  }
}

class VirtualAction<T> extends Subscription implements SchedulerAction<T> {
  #ticket = 0;
  #isPending = false;
  #state: T | undefined;

  constructor(
    private readonly scheduler: VirtualScheduler,
    private readonly work: Work<T>,
    readonly share: Share,
  ) {
    super();
  }

  schedule(state?: T, delay = 0): this {
    if (this.closed || this.share.isClosed) return this;
    this.#cancel();
    this.#state = state;
    this.#isPending = true;
    this.scheduler.push(this as VirtualAction<unknown>, delay, ++this.#ticket, this.share);
    return this;
  }

  isDue(ticket: number): boolean {
    return this.#isPending && ticket === this.#ticket && !this.share.isClosed;
  }

  execute(): void {
    this.#isPending = false;
    this.work.call(this, this.#state);
  }

  override unsubscribe(): void {
    if (this.closed) return;
    this.#cancel();
    super.unsubscribe();
  }

  #cancel(): void {
    if (!this.#isPending) return;
    this.#isPending = false;
    if (this.share.isClosed) this.share.pending -= 1;
    else this.scheduler.cancelled(this.share);
  }
}

const isBefore = (one: Entry, other: Entry): boolean =>
  one.at !== other.at ? one.at < other.at : one.rank !== other.rank ? one.rank < other.rank : one.order < other.order;

const push = (heap: Entry[], entry: Entry): void => {
  let index = heap.length;
  heap.push(entry);
  while (index > 0) {
    const parent = (index - 1) >> 1;
    if (!isBefore(entry, heap[parent]!)) break;
    heap[index] = heap[parent]!;
    index = parent;
  }
  heap[index] = entry;
};

const pop = (heap: Entry[]): void => {
  const last = heap.pop();
  if (!last || heap.length === 0) return;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    if (child >= heap.length) break;
    if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child += 1;
    if (!isBefore(heap[child]!, last)) break;
    heap[index] = heap[child]!;
    index = child;
  }
  heap[index] = last;
};
