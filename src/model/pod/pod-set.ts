import type { ManifestProblem } from '../manifest/manifest-problem.js';
import type { SourceObject } from '../references/source-object.js';
import type { Pod, PodRef } from './pod.js';

/** All pods that one source wants now, and the objects that they may refer to. Pods that the set leaves out are stopped. */
export interface PodSet {
  readonly pods: readonly Pod[];
  /** The ConfigMaps and Secrets of the source, for its own pods; none unless given. */
  readonly objects?: readonly SourceObject[];
  /**
   * The source could not read everything, and has never read everything before: pods that this set leaves out may be
   * wanted. A complete set follows once they are known.
   */
  readonly isPartial?: true;
}

/** A message of a source beside its pods, for the log and the journal. */
export interface SourceProblem {
  /** The level of the message: a failure that repeats becomes quiet, a recovery is `info`. */
  readonly severity: 'error' | 'warning' | 'info' | 'debug';
  /** One line that names the file, URL or pod. */
  readonly message: string;
  /** The file or URL of the problem; an `info` of the same one revokes the problem. */
  readonly from?: string;
  /** The place in the manifest. */
  readonly manifest?: ManifestProblem;
  /** Adds to the last message of `from` instead of replacing it. */
  readonly continues?: true;
  /** Pods that keep running, because their new version cannot be read. */
  readonly keeps?: readonly PodRef[];
  /** The pod of the problem, if an event about it is due. */
  readonly event?: { readonly pod: Pod; readonly reason: string; readonly message: string };
}

/**
 * A value that a source emits. A source of pods is an `Observable<SourceEvent>`. It may fail; the merge of the sources
 * subscribes to it again.
 */
export type SourceEvent =
  ({ readonly kind: 'set' } & PodSet) | { readonly kind: 'problem'; readonly problem: SourceProblem };

export const podSet = (pods: readonly Pod[], objects: readonly SourceObject[] = []): SourceEvent => ({
  kind: 'set',
  pods,
  ...(objects.length > 0 && { objects }),
});

export const partialPodSet = (pods: readonly Pod[], objects: readonly SourceObject[] = []): SourceEvent => ({
  kind: 'set',
  pods,
  isPartial: true,
  ...(objects.length > 0 && { objects }),
});

export const sourceProblem = (problem: SourceProblem): SourceEvent => ({ kind: 'problem', problem });
