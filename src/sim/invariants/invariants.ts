import type { Invariant } from './monitor.js';

/** Every invariant that a world has to keep, in the order of docs/simulation.md. */
export const INVARIANTS: readonly Invariant[] = [];
