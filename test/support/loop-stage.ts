import type { SchedulerLike } from 'rxjs';
import type { JournalRecord } from '../../src/model/journal/journal.js';
import type { Wake } from '../../src/model/pod-workers/wake.js';
import { type KubeletState, kubeletState } from '../../src/streams/sync-loop/kubelet-state.js';
import type { LoopContext } from '../../src/streams/sync-loop/loop-context.js';
import { podGuard } from '../../src/streams/sync-loop/pod-guard.js';
import { metricLines } from './metric-lines.js';
import { nodeFacts } from './node-facts.js';

export interface LoopStage {
  readonly context: LoopContext;
  readonly state: KubeletState;
  readonly records: JournalRecord[];
  /** `type reason message` of each event. */
  readonly events: string[];
  readonly observed: string[];
  /** `level message` of each line. */
  readonly logged: string[];
  /** The type of the update that waits for the worker of `uid`. */
  readonly pending: (uid: string) => string | undefined;
}

/** The context of a loop whose clock stands at `clock.now`, and everything that it emits. */
export const loopStage = (given: Partial<LoopContext> = {}, clock: { now: number } = { now: 0 }): LoopStage => {
  const records: JournalRecord[] = [];
  const events: string[] = [];
  const logged: string[] = [];
  const { metrics, lines: observed } = metricLines();
  const level = (name: string) => (_fields: object, message: string) => logged.push(`${name} ${message}`);
  const log = { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') };
  const state = kubeletState({ sources: ['file'] });
  const context: LoopContext = {
    state,
    admit: () => undefined,
    guard: podGuard(log),
    node: nodeFacts,
    record: (entry) => `j${records.push(entry)}`,
    recordEvent: ({ type, reason, message }) => events.push(`${type} ${reason} ${message}`),
    metrics,
    log,
    scheduler: { now: () => clock.now } as SchedulerLike,
    wallClock: () => clock.now,
    ...given,
  };
  const pending = (uid: string) => context.state.workers.record(uid)?.pending?.type;
  return { context, state: context.state, records, events, observed, logged, pending };
};

/** `wake uid` or `cancel uid` for each of them. */
export const brief = (wakes: readonly Wake[]): readonly string[] =>
  wakes.map(({ uid, cancel }) => `${cancel ? 'cancel' : 'wake'} ${uid}`);
