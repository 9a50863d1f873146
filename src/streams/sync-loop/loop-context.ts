import type { SchedulerLike } from 'rxjs';
import type { Admit } from '../../model/admission/rejection.js';
import type { PodStartTracker } from '../../model/pod-status/pod-start-tracker.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { RecordEvent } from '../ports/record-event.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { WallClock } from '../ports/wall-clock.js';
import type { ManifestReferences } from '../references/manifest-references.js';
import type { KubeletState } from './kubelet-state.js';
import type { SwapFacts } from '../../model/cri/swap-share.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import type { PodGuard } from './pod-guard.js';

/** The state that the handlers of the loop read and change, and the ports that they use. */
export interface LoopContext {
  readonly state: KubeletState;
  readonly admit: Admit;
  readonly guard: PodGuard;
  readonly node: Pick<NodeFacts, 'resizesPods'> & SwapFacts;
  /** Keeps the objects of a source for its pods; absent in a cluster, where pods read those of the API server. */
  readonly setObjects?: ManifestReferences['setObjects'] | undefined;
  /** Measures the start of pods of the API; absent on a node without an API server. */
  readonly podStarts?: PodStartTracker | undefined;
  readonly record: RecordJournal;
  readonly recordEvent: RecordEvent;
  readonly metrics: Metrics;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
  readonly wallClock: WallClock;
}
