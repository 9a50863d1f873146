import type { SchedulerLike } from 'rxjs';
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
  const startedAt = scheduler.now();
  const agentStartedAt = wallClock();
  let attemptedAt: number | undefined;
  let registeredAt: number | undefined;
  let beforeAgentMs: number | undefined;
  let isOver = false;
  return {
    attempted: () => (attemptedAt ??= scheduler.now()),
    registered: (bootedAt) => {
      if (isOver || attemptedAt === undefined || registeredAt !== undefined) return;
      registeredAt = scheduler.now();
      if (bootedAt !== undefined) {
        beforeAgentMs = agentStartedAt - bootedAt;
        measure('pre-kubelet', beforeAgentMs / 1_000);
      }
      measure('pre-registration', (attemptedAt - startedAt) / 1_000);
      measure('registration', (registeredAt - attemptedAt) / 1_000);
    },
    found: () => (isOver = true),
    ready: () => {
      if (registeredAt === undefined || isOver) return;
      isOver = true;
      const now = scheduler.now();
      measure('post-registration', (now - registeredAt) / 1_000);
      if (beforeAgentMs !== undefined) measure('total', (beforeAgentMs + now - startedAt) / 1_000);
    },
  };
};
