/** Keeps the most recently used entries, up to a limit. */
export class RecentEntries<Value> {
  readonly #entries = new Map<string, Value>();

  constructor(readonly limit: number) {}

  /** Returns the entry and marks it as the most recently used one. */
  get(key: string): Value | undefined {
    const value = this.#entries.get(key);
    if (value !== undefined) this.set(key, value);
    return value;
  }

  set(key: string, value: Value): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    if (this.#entries.size <= this.limit) return;
    const [oldest] = this.#entries.keys();
    if (oldest !== undefined) this.#entries.delete(oldest);
  }

  get size(): number {
    return this.#entries.size;
  }
}
