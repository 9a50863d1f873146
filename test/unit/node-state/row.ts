import type { NodeState } from '../../../src/model/node-state/node-state.js';
import type { StateChange } from '../../../src/model/node-state/state-change.js';

/** What a change says, the changes before it, and a part of the state after it. */
export type Row = readonly [
  what: string,
  before: readonly StateChange[],
  change: StateChange,
  part: (state: NodeState) => unknown,
  is: unknown,
];
