import type { WorldEvent } from '../world/world-event.js';
import type { AgentSettings, EndOfRun, Finding, Invariant, Violation } from './monitor.js';
import { WorldTruth } from './world-truth.js';

/** Several invariants that watch one world. */
export interface Watch {
  /** Every event, in order. Returns its violations. */
  readonly tell: (event: WorldEvent) => readonly Violation[];
  /** Returns the violations at the end. No event may follow. */
  readonly end: (run: EndOfRun) => readonly Violation[];
}

/** The settings of an agent without options. */
const DEFAULTS: AgentSettings = {
  syncFrequencyMs: 60_000,
  maxRestartBackOffMs: 300_000,
  eventedPleg: false,
  imageMaxAgeMs: Infinity,
  shutdownGroups: [],
  podCapacity: 110,
};

/** Watches a world from its beginning; a watch serves one world. */
export const watchInvariants = (invariants: readonly Invariant[], settings: Partial<AgentSettings> = {}): Watch => {
  const truth = new WorldTruth();
  const monitors = invariants.map(({ name, watch }) => ({
    name,
    monitor: watch(truth, { ...DEFAULTS, ...settings }),
  }));
  const violation = (invariant: string, at: number, finding: Finding): Violation => ({ invariant, at, ...finding });
  return {
    tell: (event) => {
      let found: Violation[] | undefined;
      for (const { name, monitor } of monitors) {
        const findings = monitor.on?.(event);
        if (findings === undefined) continue;
        for (const finding of findings) (found ??= []).push(violation(name, event.at, finding));
      }
      truth.apply(event);
      return found ?? NONE;
    },
    end: (run) =>
      monitors.flatMap(({ name, monitor }) =>
        (monitor.end?.(run) ?? []).map((finding) => violation(name, run.at, finding)),
      ),
  };
};

const NONE: readonly Violation[] = [];
