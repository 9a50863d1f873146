import {
  catchError,
  defer,
  distinctUntilChanged,
  EMPTY,
  filter,
  ignoreElements,
  map,
  type Observable,
  of,
  type SchedulerLike,
  share,
  tap,
} from 'rxjs';
import type { RuntimeReport } from '../../model/node/runtime-report.js';
import type { PlegCadence } from '../../model/pleg/pleg.js';
import { type HealthFacts, healthProblemAt, runtimeReportAt } from '../../model/runtime-health/health-facts.js';
import type { RuntimeState, RuntimeStatus } from '../../model/runtime-health/runtime-state.js';
import { startWithPresent } from '../operators/start-with-present.js';
import type { Logger } from '../ports/logger.js';
import type { RecordJournal } from '../ports/record-journal.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { journalHealth } from './journal-health.js';
import { runtimeStatuses } from './runtime-statuses.js';

/** The reason why pods cannot be synced, such as `container runtime is down`; undefined while they can. */
export type RuntimeProblem = string | undefined;

/** The health of the runtime: its status, and the age of the last relist. Only this module changes it. */
export interface RuntimeHealth {
  /** Reads the status of the runtime, at once and 5 s after each reply; shared. Errors: none. Ends: never. */
  readonly state$: Observable<RuntimeState>;
  /** Reads it once more, beside that period, and completes; emits nothing. Errors: none; a call that fails changes nothing. */
  readonly read$: Observable<never>;
  /** Takes a successful relist; `at` is the time of its request, in the scheduler's milliseconds. */
  readonly relisted: (at: number) => void;
  /** Takes the cadence of all relists from now on. */
  readonly setCadence: (cadence: PlegCadence) => void;
  readonly cadence: () => PlegCadence;
  /** Checks the health: emits the reason why pods cannot be synced now, undefined if they can, and completes. Errors: none. */
  readonly check$: Observable<RuntimeProblem>;
  /**
   * Begins with what a check would find now, and has each change that a check finds. A check that a subscriber makes is emitted after the
   * one that it reacts to. Errors: none. Ends: never.
   */
  readonly health$: Observable<RuntimeProblem>;
  /** Records and logs what the checks find, each change once; emits nothing. Errors: none. Ends: never. */
  readonly journal$: Observable<never>;
  /** The reason why pods cannot be synced now; undefined while they can. */
  readonly problem: () => RuntimeProblem;
  /** The reason why pods with a network of their own cannot start; undefined while they can. */
  readonly networkProblem: () => string | undefined;
  /** The runtime in the status of the Node. Without a network the node is not ready, but pods are synced. */
  readonly report: () => RuntimeReport;
}

export interface RuntimeHealthOptions {
  readonly runtime: Pick<RuntimeService, 'status'>;
  /** Holds what is known of the runtime, and what the checks find. */
  readonly state: Pick<KubeletState, 'value' | 'apply' | 'transition$'>;
  readonly record: RecordJournal;
  readonly log: Logger;
  readonly scheduler: SchedulerLike;
}

/** Makes the health of one life of the agent. It is unhealthy until the first status and the first relist. */
export const runtimeHealth = ({ runtime, state, record, log, scheduler }: RuntimeHealthOptions): RuntimeHealth => {
  const facts = (): HealthFacts => state.value.runtime;
  const problem = (): RuntimeProblem => healthProblemAt(facts(), scheduler.now());
  const take = (status: RuntimeStatus): void =>
    void state.apply({ kind: 'runtime-status', status, now: scheduler.now() });
  const checked$ = state.transition$.pipe(
    map(({ change }) => change),
    filter((change) => change.kind === 'health-checked'),
    map((change) => change.problem),
  );
  return {
    state$: runtimeStatuses({ runtime, log, scheduler }).pipe(
      tap(take),
      map(() => facts().runtime),
      share(),
    ),
    read$: defer(() => runtime.status({})).pipe(
      tap(take),
      ignoreElements(),
      catchError(() => EMPTY),
    ),
    relisted: (at) => void state.apply({ kind: 'relisted', at }),
    setCadence: (cadence) => void state.apply({ kind: 'relist-cadence', cadence }),
    cadence: () => facts().cadence,
    check$: defer(() => {
      const found = problem();
      state.apply({ kind: 'health-checked', problem: found });
      return of(found);
    }),
    health$: checked$.pipe(
      startWithPresent(() => of(problem())),
      distinctUntilChanged(),
    ),
    journal$: checked$.pipe(journalHealth({ record, log })),
    problem,
    networkProblem: () => facts().runtime.networkProblem,
    report: () => runtimeReportAt(facts(), scheduler.now()),
  };
};
