import type { SchedulerLike } from 'rxjs';
import type { Metrics, WallClock } from '../ports.js';

/** Measures how the start of a new node goes; one that was there before has none. */
export interface NodeStartup {
  /** A first attempt to register is made; what comes later does not count. */
  readonly attempted: () => void;
  /** The Node was made, on a machine that was started then, in Unix milliseconds. */
  readonly registered: (bootedAt: number | undefined) => void;
  /** The Node was there before: there is no start of a new node to be measured, now or later. */
  readonly found: () => void;
  /** The API has heard that it is ready. */
  readonly ready: () => void;
}

/** Source: pkg/kubelet/util/node_startup_latency_tracker.go */
export const nodeStartup = (
  { nodeStartup: tell }: Pick<Metrics, 'nodeStartup'>,
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
        tell('pre-kubelet', beforeAgentMs / 1_000);
      }
      tell('pre-registration', (attemptedAt - startedAt) / 1_000);
      tell('registration', (registeredAt - attemptedAt) / 1_000);
    },
    found: () => (isOver = true),
    ready: () => {
      if (registeredAt === undefined || isOver) return;
      isOver = true;
      const now = scheduler.now();
      tell('post-registration', (now - registeredAt) / 1_000);
      if (beforeAgentMs !== undefined) tell('total', (beforeAgentMs + now - startedAt) / 1_000);
    },
  };
};
