import { EMPTY, of, type SchedulerLike } from 'rxjs';
import type { JournalRecord } from '../../src/model/journal.js';
import type { Pod } from '../../src/model/pod.js';
import type { PodSyncContext } from '../../src/streams/pod-sync/pod-sync-context.js';
import type { ImageService, NodeFiles, NodeAgentEvent, RuntimeService } from '../../src/streams/ports.js';
import { metricLines } from './metric-lines.js';

/** A port of which only `calls` may be used; any other call fails the test by name. */
export const only = <Port extends object>(calls: Partial<Port>): Port =>
  new Proxy(calls as Port, {
    get: (target, name) => {
      const call = Reflect.get(target, name) as unknown;
      if (call === undefined) throw new Error(`the test does not expect ${String(name)}`);
      return call;
    },
  });

export const noFiles: NodeFiles = {
  makeDirectory: () => EMPTY,
  listDirectory: () => of([]),
  remove: () => EMPTY,
  removeLog: () => EMPTY,
  link: () => EMPTY,
  danglingLinks: () => of([]),
};

export interface SyncStage {
  readonly context: PodSyncContext;
  /** `reason message` of each event, in order. */
  readonly events: string[];
  readonly records: JournalRecord[];
  /** Observations of metrics, `name arguments`, in order. */
  readonly observed: string[];
}

/** A pass over `pod` whose outside world is what the test gives it. */
export const syncStage = (
  pod: Pod,
  scheduler: SchedulerLike,
  {
    runtime = {},
    images = {},
    files = noFiles,
    signal,
  }: {
    readonly runtime?: Partial<RuntimeService>;
    readonly images?: Partial<ImageService>;
    readonly files?: NodeFiles;
    readonly signal?: AbortSignal;
  } = {},
): SyncStage => {
  const events: string[] = [];
  const records: JournalRecord[] = [];
  const { metrics, lines: observed } = metricLines();
  const context: PodSyncContext = {
    pod,
    causes: ['cause'],
    signal,
    ports: {
      runtime: only<RuntimeService>(runtime),
      images: only<ImageService>(images),
      files,
      record: (entry) => `j${records.push(entry)}`,
      recordEvent: ({ reason, message }: NodeAgentEvent) => events.push(`${reason} ${message}`),
      metrics,
      scheduler,
      wallClock: () => scheduler.now(),
    },
  };
  return { context, events, records, observed };
};
