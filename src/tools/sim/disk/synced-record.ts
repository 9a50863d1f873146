import type { SeededRandom } from '../world/seeded-random.js';
import { COMMIT_MS } from './volatile-tree.js';

interface Version<T> {
  readonly value: T;
  readonly atMs: number;
}

/**
 * A record that the agent replaces as a whole: written to another file, synced and renamed. Before the end of such a write a loss of power
 * leaves the new version or an older one, and never a mixture; after it only the new one.
 */
export class SyncedRecord<T> {
  /** The first one is on the disk. */
  #versions: readonly Version<T>[];

  constructor(
    first: T,
    private readonly clockMs: () => number,
  ) {
    this.#versions = [{ value: first, atMs: -Infinity }];
  }

  /** The version that a reader sees. */
  get value(): T {
    return this.#versions.at(-1)!.value;
  }

  /** Replaces the record. The returned function ends the write: from then on the version is on the disk. */
  write(value: T): () => void {
    const version = { value, atMs: this.clockMs() };
    this.#versions = [...this.#versions, version];
    return () => this.#settle(this.#versions.indexOf(version));
  }

  /** Puts the version that a reader sees on the disk. */
  sync(): void {
    this.#settle(this.#versions.length - 1);
  }

  losePower(draw: SeededRandom): void {
    this.#settle(this.#versions.findLastIndex(({ atMs }) => atMs <= this.clockMs() - COMMIT_MS));
    this.#versions = [{ value: draw.pick(this.#versions).value, atMs: -Infinity }];
  }

  #settle(index: number): void {
    if (index > 0) this.#versions = this.#versions.slice(index);
  }
}

/** Such records by their keys. */
export class SyncedRecords<T> {
  readonly #records = new Map<string, SyncedRecord<T | undefined>>();

  constructor(private readonly clockMs: () => number) {}

  get(key: string): T | undefined {
    return this.#records.get(key)?.value;
  }

  /** Replaces a record, or removes it. See `SyncedRecord.write`. */
  write(key: string, value: T | undefined): () => void {
    let record = this.#records.get(key);
    if (!record) this.#records.set(key, (record = new SyncedRecord<T | undefined>(undefined, this.clockMs)));
    return record.write(value);
  }

  all(): ReadonlyMap<string, T> {
    return new Map(
      [...this.#records].flatMap(([key, { value }]) => (value === undefined ? [] : [[key, value] as const])),
    );
  }

  sync(): void {
    for (const record of this.#records.values()) record.sync();
  }

  losePower(draw: SeededRandom): void {
    for (const record of this.#records.values()) record.losePower(draw);
  }
}
