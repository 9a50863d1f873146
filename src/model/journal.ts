import type { PodRef } from './pod.js';

/** Names one journal entry for good: `<run of the agent>-<sequence number>`. */
export type JournalId = string;

/** What a pod's worker does next, and when. Times are Unix milliseconds. */
export type NextStep =
  | { readonly kind: 'now' }
  | { readonly kind: 'resync'; readonly dueAt: number }
  | { readonly kind: 'retry'; readonly dueAt: number; readonly reason: string }
  | { readonly kind: 'nothing'; readonly reason: string };

/**
 * What happened, by kind. Inputs come from outside the loop, decisions are what pure functions said, effects touched the
 * world, outcomes end a run of a worker.
 */
export type JournalEvent =
  // Inputs
  | { readonly kind: 'agent-started'; readonly version: string; readonly node: string }
  | { readonly kind: 'agent-stopping'; readonly reason: string }
  | {
      readonly kind: 'config';
      readonly source: string;
      readonly op: 'ADD' | 'UPDATE' | 'DELETE' | 'REMOVE' | 'RECONCILE';
    }
  | { readonly kind: 'config-problem'; readonly source: string; readonly problem: string }
  | {
      readonly kind: 'runtime-changed';
      readonly change: string;
      readonly containerId: string;
      readonly exitCode?: number;
    }
  | { readonly kind: 'work-due' }
  | { readonly kind: 'housekeeping'; readonly finding: string }
  | { readonly kind: 'kill-requested'; readonly reason: string; readonly graceSeconds?: number }
  // Decisions
  | { readonly kind: 'admission-rejected'; readonly reason: string; readonly message: string }
  | {
      readonly kind: 'sync-started';
      readonly work: 'sync' | 'terminating' | 'terminated';
      readonly trigger: string;
      readonly graceSeconds?: number;
    }
  | { readonly kind: 'actions'; readonly actions: readonly PlannedAction[] }
  | {
      readonly kind: 'back-off';
      /** Of the instance that ended; absent when it could not be known. */
      readonly exitCode?: number;
      readonly delayMs: number;
      /** When the next start is allowed. */
      readonly until: number;
      /** 1-based position of `delayMs` in the doubling table, and the length of that table. */
      readonly step: number;
      readonly steps: number;
      /** Milliseconds of running after which the table starts over. */
      readonly resetAfterMs: number;
    }
  // Effects
  | {
      readonly kind: 'call';
      /** A CRI method, such as `StartContainer`. */
      readonly call: string;
      readonly target?: string;
      readonly durationMs: number;
      readonly error?: string;
    }
  | { readonly kind: 'event'; readonly type: 'Normal' | 'Warning'; readonly reason: string; readonly message: string }
  | { readonly kind: 'phase'; readonly from?: string; readonly to: string; readonly reason?: string }
  // Outcomes
  | {
      readonly kind: 'sync-ended';
      readonly work: 'sync' | 'terminating' | 'terminated';
      readonly error?: string;
      readonly next: NextStep;
    }
  | { readonly kind: 'forgotten' };

/** One line of what `computePodActions` decided, with its reason in plain words. */
export interface PlannedAction {
  readonly action:
    'kill-pod' | 'create-sandbox' | 'start-init' | 'start' | 'start-ephemeral' | 'kill' | 'reset' | 'keep';
  readonly container?: string;
  readonly because: string;
}

/** Whom an entry is about and what led to it. */
export interface JournalContext {
  readonly causes: readonly JournalId[];
  readonly pod?: PodRef;
  readonly container?: string;
}

export type JournalRecord = JournalEvent & JournalContext;

/** A record as it stands in the journal: one JSON line. */
export type JournalEntry = JournalRecord & {
  readonly id: JournalId;
  /** Unix milliseconds of the agent's clock. */
  readonly at: number;
};
