import type { PodSourceName } from '../pod/pod.js';

/**
 * Which sources have delivered their pods. Only after all of them an absent pod is an unwanted pod. A source counts once the loop has
 * *handled* its first update.
 *
 * Source: pkg/kubelet/config/sources.go
 */
export interface SourcesReady {
  readonly expected: readonly PodSourceName[];
  readonly seen: readonly PodSourceName[];
}

export const withSource = (sources: SourcesReady, source: PodSourceName): SourcesReady =>
  sources.seen.includes(source) ? sources : { ...sources, seen: [...sources.seen, source] };

/** Returns the sources that have delivered nothing yet. */
export const missingSources = ({ expected, seen }: SourcesReady): readonly PodSourceName[] =>
  expected.filter((source) => !seen.includes(source));
