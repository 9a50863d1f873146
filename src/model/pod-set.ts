import type { ManifestProblem } from './manifest/manifest-problem.js';
import type { Pod, PodRef } from './pod.js';

/** The complete list of pods that one source wants now. What it leaves out shall not run. */
export interface PodSet {
  readonly pods: readonly Pod[];
}

/** What a source has to say beside its pods, for a log and for the journal. */
export interface SourceProblem {
  /** How loudly to say it: a failure that repeats becomes quiet, a recovery is `info`. */
  readonly severity: 'error' | 'warning' | 'info' | 'debug';
  /** One line that names the file, URL or pod. */
  readonly message: string;
  /** The file or URL that is meant; an `info` with the same one takes the problem back. */
  readonly from?: string;
  /** The place in a manifest that is meant. */
  readonly manifest?: ManifestProblem;
  /** Pods that go on as they were, because what would replace them cannot be read. */
  readonly keeps?: readonly PodRef[];
  /** The pod that is meant, when an event about it is due. */
  readonly event?: { readonly pod: Pod; readonly reason: string; readonly message: string };
}

/**
 * What a source emits: `Observable<SourceEvent>` is all that a source of pods has to be. It may fail; the merge subscribes
 * to it again.
 */
export type SourceEvent =
  ({ readonly kind: 'set' } & PodSet) | { readonly kind: 'problem'; readonly problem: SourceProblem };

export const podSet = (pods: readonly Pod[]): SourceEvent => ({ kind: 'set', pods });

export const sourceProblem = (problem: SourceProblem): SourceEvent => ({ kind: 'problem', problem });
