import { EMPTY, type Observable, of } from 'rxjs';
import type { ShutdownState } from '../../model/shutdown/shutdown-state.js';

/** The newest shutdown of the node, which survives restarts of the agent. Calls are cold. */
export interface ShutdownStates {
  /** Emits once the state of the last write; an empty one if there was none. Errors: it cannot be read. */
  readonly read: () => Observable<ShutdownState>;
  /** Replaces the state and completes, or changes nothing and fails. */
  readonly write: (state: ShutdownState) => Observable<never>;
}

/** Keeps no state across restarts of the agent. */
export const noShutdownStates: ShutdownStates = { read: () => of({}), write: () => EMPTY };
