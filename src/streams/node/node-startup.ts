import type { SchedulerLike } from 'rxjs';
import { foldNodeStart, type NodeStart, type NodeStartEvent } from '../../model/node/node-start.js';
import type { Metrics } from '../ports/metrics.js';
import type { WallClock } from '../ports/wall-clock.js';

/** Measures the start of a new node; a node that was registered before is not measured. */
export interface NodeStartup {
  /** Takes an attempt to register; only the first one counts. */
  readonly attempted: () => void;
  /** Takes the creation of the Node; `bootedAt` is the start of the machine, in Unix milliseconds. */
  readonly registered: (bootedAt: number | undefined) => void;
  /** Takes that the Node existed before: nothing is measured from then on. */
  readonly found: () => void;
  /** Takes that the API server has the Node as ready. */
  readonly ready: () => void;
}

/** Makes the measurement of one start. Source: pkg/kubelet/util/node_startup_latency_tracker.go */
export const nodeStartup = (
  { nodeStartup: measure }: Pick<Metrics, 'nodeStartup'>,
  { scheduler, wallClock }: { readonly scheduler: SchedulerLike; readonly wallClock: WallClock },
): NodeStartup => {
  let start: NodeStart = { startedAt: scheduler.now(), startedAtUnixMs: wallClock(), isOver: false };
  const take = (event: NodeStartEvent): void => {
    const step = foldNodeStart(start, event);
    start = step.start;
    for (const { part, durationMs } of step.ended) measure(part, durationMs / 1_000);
  };
  return {
    attempted: () => take({ kind: 'attempted', at: scheduler.now() }),
    registered: (bootedAt) => take({ kind: 'registered', at: scheduler.now(), bootedAt }),
    found: () => take({ kind: 'found' }),
    ready: () => take({ kind: 'ready', at: scheduler.now() }),
  };
};
