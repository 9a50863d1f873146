import type { WorldEvent } from '../world-event.js';
import type { EndOfRun, Invariant, Violation } from './monitor.js';

/** Several invariants watching one world. */
export interface Watch {
  /** Everything that happens, in order. The violations that it shows are the result. */
  readonly tell: (event: WorldEvent) => readonly Violation[];
  /** The violations that show only now. Nothing may be told afterwards. */
  readonly end: (run: EndOfRun) => readonly Violation[];
}

/** Watches a world from its beginning; a watch serves one world. */
export const watchInvariants = (invariants: readonly Invariant[]): Watch => {
  const monitors = invariants.map(({ watch }) => watch());
  return {
    tell: (event) => {
      let found: Violation[] | undefined;
      for (const monitor of monitors) {
        const violations = monitor.on(event);
        if (violations && violations.length > 0) (found ??= []).push(...violations);
      }
      return found ?? NONE;
    },
    end: (run) => monitors.flatMap((monitor) => monitor.end?.(run) ?? []),
  };
};

const NONE: readonly Violation[] = [];
