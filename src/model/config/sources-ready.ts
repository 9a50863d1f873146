import type { PodSourceName } from '../pod/pod.js';

/**
 * Whether every source has delivered its pods. Only then an absent pod is an unwanted pod. A source counts once the
 * loop has *handled* its first update.
 *
 * Source: pkg/kubelet/config/sources.go
 */
export class SourcesReady {
  readonly #expected: readonly PodSourceName[];
  readonly #seen = new Set<PodSourceName>();

  constructor(expected: readonly PodSourceName[]) {
    this.#expected = expected;
  }

  add(source: PodSourceName): void {
    this.#seen.add(source);
  }

  get all(): boolean {
    return this.#expected.every((source) => this.#seen.has(source));
  }

  /** Returns the sources that have delivered nothing yet. */
  get missing(): readonly PodSourceName[] {
    return this.#expected.filter((source) => !this.#seen.has(source));
  }
}
