import { catchError, defer, EMPTY, ignoreElements, type Observable, type SchedulerLike, share, tap } from 'rxjs';
import { GENERIC_PLEG, type PlegCadence, plegHealth } from '../../model/pleg/pleg.js';
import type { RuntimeReport } from '../../model/node/runtime-report.js';
import {
  aggregateText,
  foldRuntimeStatus,
  runtimeProblems,
  type RuntimeState,
  UNKNOWN_RUNTIME_STATE,
} from '../../model/runtime-health/runtime-state.js';
import type { Logger } from '../ports/logger.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import { observeRuntime } from '../sync-loop/observe-runtime.js';
import { runtimeStates } from './runtime-state.js';

/** The health of the runtime: its status, and the age of the last relist. Only this module changes it. */
export interface RuntimeHealth {
  /** Reads the status of the runtime, at once and 5 s after each reply; shared. Errors: none. Ends: never. */
  readonly state$: Observable<RuntimeState>;
  /** Reads it once more, beside that period, and completes; emits nothing. Errors: none; a call that fails changes nothing. */
  readonly check$: Observable<never>;
  /** Takes a successful relist; `at` is the time of its request, in the scheduler's milliseconds. */
  readonly relisted: (at: number) => void;
  /** Takes the cadence of all relists from now on. */
  readonly setCadence: (cadence: PlegCadence) => void;
  readonly cadence: () => PlegCadence;
  /** Whether pods can be synced now; records and logs each change. */
  readonly isHealthy: () => boolean;
  /** The reason why pods cannot be synced now; undefined while they can. */
  readonly problem: () => string | undefined;
  /** The reason why pods with a network of their own cannot start; undefined while they can. */
  readonly networkProblem: () => string | undefined;
  /** The runtime in the status of the Node. Without a network the node is not ready, but pods are synced. */
  readonly report: () => RuntimeReport;
}

export interface RuntimeHealthOptions {
  readonly runtime: Pick<RuntimeService, 'status'>;
  readonly record: RecordJournal;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** Makes the health of one life of the agent. It is unhealthy until the first status and the first relist. */
export const runtimeHealth = ({ runtime, record, log, scheduler }: RuntimeHealthOptions): RuntimeHealth => {
  let state = UNKNOWN_RUNTIME_STATE;
  let lastRelistAt: number | undefined;
  let cadence = GENERIC_PLEG;

  const problems = (): readonly string[] => {
    const now = scheduler.now();
    const pleg = plegHealth(lastRelistAt, now, cadence.thresholdMs);
    return runtimeProblems(state, now, pleg.healthy ? undefined : pleg.problem);
  };
  const problem = (): string | undefined => {
    const found = problems();
    return found.length === 0 ? undefined : aggregateText(found);
  };
  return {
    state$: runtimeStates({ runtime, log, scheduler }).pipe(
      tap((read) => (state = read)),
      share(),
    ),
    check$: defer(() => runtime.status({})).pipe(
      tap((status) => (state = foldRuntimeStatus(state, status, scheduler.now()))),
      ignoreElements(),
      catchError(() => EMPTY),
    ),
    relisted: (at) => (lastRelistAt = at),
    setCadence: (next) => (cadence = next),
    cadence: () => cadence,
    isHealthy: observeRuntime({ record, log }, problem),
    problem,
    networkProblem: () => state.networkProblem,
    report: () => {
      const { networkProblem, handlers, features } = state;
      return {
        problems: [...problems(), ...(networkProblem === undefined ? [] : [networkProblem])],
        ...(handlers && { handlers }),
        ...(features && { features }),
      };
    },
  };
};
