import type { ListedItems } from './port-table.js';
import type { KnownItems, Plain } from '../entries/recording-entry.js';
import { sameValue } from '../entries/same-value.js';

interface Known {
  readonly number: number;
  readonly item: unknown;
  /** The last reply that contained it. */
  seenIn: number;
}

/** The number of replies for which an absent item is remembered. */
const REMEMBERED_FOR = 256;

/**
 * Writes lists that change little from reply to reply: an unchanged item is the number that it got when it was first
 * written. An item without an id is always written.
 */
export class ItemsWriter {
  readonly #known = new Map<string, Known>();
  #numbers = 0;
  #replies = 0;

  constructor(private readonly idOf: ListedItems['idOf']) {}

  write(items: readonly unknown[], encode: (item: unknown) => Plain): KnownItems {
    this.#replies += 1;
    if (this.#replies % REMEMBERED_FOR === 0) this.#forget();
    return { $items: items.map((item) => this.#writeItem(item, encode)) };
  }

  #writeItem(item: unknown, encode: (item: unknown) => Plain): KnownItems['$items'][number] {
    const id = this.idOf(item);
    const known = typeof id === 'string' ? this.#known.get(id) : undefined;
    if (known && sameValue(known.item, item)) {
      known.seenIn = this.#replies;
      return known.number;
    }
    const number = ++this.#numbers;
    const plain = encode(item);
    if (typeof id === 'string') this.#known.set(id, { number, item, seenIn: this.#replies });
    return { number, item: plain };
  }

  #forget(): void {
    for (const [id, { seenIn }] of this.#known) {
      if (seenIn < this.#replies - REMEMBERED_FOR) this.#known.delete(id);
    }
  }
}

/** Reads the lists of `ItemsWriter`. Errors: throws for a number that was not written before. */
export class ItemsReader {
  readonly #items = new Map<number, unknown>();

  read({ $items }: KnownItems, decode: (item: Plain) => unknown): readonly unknown[] {
    return $items.map((entry) => {
      if (typeof entry === 'number') {
        if (!this.#items.has(entry)) throw new Error(`item ${entry} of a listing was never written`);
        return this.#items.get(entry);
      }
      const item = decode(entry.item);
      this.#items.set(entry.number, item);
      return item;
    });
  }
}
