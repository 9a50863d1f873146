import type { SchedulerLike } from 'rxjs';
import type { JournalRecord } from '../../src/model/journal.js';
import { PodManager } from '../../src/model/pod-manager.js';
import { PodStatusStore } from '../../src/model/pod-status-store.js';
import { type Delivery, PodWorkerRegistry } from '../../src/model/pod-workers/pod-worker-registry.js';
import { SourcesReady } from '../../src/model/sources-ready.js';
import { WorkQueue } from '../../src/model/work-queue.js';
import { newBackOffs } from '../../src/streams/pod-sync/back-offs.js';
import type { LoopDesk } from '../../src/streams/sync-loop/loop-desk.js';
import { metricLines } from './metric-lines.js';

export interface LoopStage {
  readonly desk: LoopDesk;
  readonly records: JournalRecord[];
  /** `type reason message` of each event. */
  readonly events: string[];
  readonly observed: string[];
  /** `level message` of each line. */
  readonly logged: string[];
  /** The type of the update that waits for the worker of `uid`. */
  readonly pending: (uid: string) => string | undefined;
}

/** The desk of a loop whose clock stands at `clock.now`, and everything that it says. */
export const loopStage = (desk: Partial<LoopDesk> = {}, clock: { now: number } = { now: 0 }): LoopStage => {
  const records: JournalRecord[] = [];
  const events: string[] = [];
  const logged: string[] = [];
  const { metrics, lines: observed } = metricLines();
  const level = (name: string) => (_fields: object, message: string) => logged.push(`${name} ${message}`);
  const workers = new PodWorkerRegistry();
  const stage: LoopDesk = {
    pods: new PodManager(),
    workers,
    queue: new WorkQueue(),
    statuses: new PodStatusStore(),
    sources: new SourcesReady(['file']),
    admit: () => undefined,
    backOffs: newBackOffs(),
    record: (entry) => `j${records.push(entry)}`,
    recordEvent: ({ type, reason, message }) => events.push(`${type} ${reason} ${message}`),
    metrics,
    log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
    scheduler: { now: () => clock.now } as SchedulerLike,
    wallClock: () => clock.now,
    ...desk,
  };
  return { desk: stage, records, events, observed, logged, pending: (uid) => stage.workers.record(uid)?.pending?.type };
};

/** `wake uid`, `cancel uid` or `forget uid` for each of them. */
export const brief = (deliveries: readonly Delivery[]): readonly string[] =>
  deliveries.map((delivery) => {
    if (delivery.kind === 'forget') return `forget ${delivery.uid}`;
    return `${delivery.cancel ? 'cancel' : 'wake'} ${delivery.uid}`;
  });
