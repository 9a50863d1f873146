import type { PodSourceName } from './pod.js';

/**
 * Whether every source has had its say: only then does the absence of a pod mean that nobody wants it.
 * A source counts once the loop has *handled* its first update.
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

  /** The sources that nothing has come from yet. */
  get missing(): readonly PodSourceName[] {
    return this.#expected.filter((source) => !this.#seen.has(source));
  }
}
