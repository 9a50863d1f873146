import type { Observable } from 'rxjs';
import type { CheckpointName } from '../../model/resize/checkpoints.js';

/** The files in which the agent keeps what outlives it, by their names in its root directory. */
export interface Checkpoints {
  /** Emits the content once, undefined without a file. Errors: it cannot be read. */
  readonly read: (name: CheckpointName) => Observable<string | undefined>;
  /** Replaces the content as a whole, and completes when no loss of power undoes it. */
  readonly write: (name: CheckpointName, content: string) => Observable<never>;
  /** The path, for messages. */
  readonly pathOf: (name: CheckpointName) => string;
}
