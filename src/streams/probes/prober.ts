import {
  catchError,
  concat,
  defer,
  EMPTY,
  endWith,
  filter,
  from,
  groupBy,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  Subject,
  take,
  takeUntil,
  tap,
} from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { ProbeResults } from '../../model/pod-actions/pod-actions.js';
import { runtimeContainerId } from '../../model/pod-status/container-statuses.js';
import type { ContainerStatus, Pod, PodStatus } from '../../model/pod/pod.js';
import { paceProblems } from '../../model/probes/probe-pace.js';
import { ProbeResultStore } from '../../model/probes/probe-result-store.js';
import { isProbed, type ProbeType, type ProbeWorker, probeWorkersOf } from '../../model/probes/probe-worker.js';
import { hasStarted, isReady, type ProbedContainer } from '../../model/probes/probed-status.js';
import type { Logger } from '../ports/logger.js';
import type { Metrics } from '../ports/metrics.js';
import type { ProbeRecords } from '../ports/probe-records.js';
import { keepRecords } from './keep-records.js';
import { type ProbeChange, type ProbeNudge, probeWorker, type ProbeWorkerOptions } from './probe-worker.js';
import { allNamed } from '../../model/values/indexed-lists.js';

/** The probes of pods, for the work of pod workers. */
export interface PodProbes {
  /** Starts the probes of the pod, unless they run already. */
  readonly add: (pod: Pod) => void;
  /** Stops the liveness and startup probes of regular containers, for a pod that stops; readiness probes go on. */
  readonly stopLivenessAndStartup: (pod: Pod) => void;
  /** Stops all probes of the pod and drops their results. */
  readonly remove: (uid: string) => void;
  /** Returns the results for the status of running containers. */
  readonly findings: (pod: Pod) => ProbeFindings;
  /** Takes that a status of the pod was stored. */
  readonly statusStored: (uid: string, status: PodStatus) => void;
  /** The results that decide about restarts; undefined while there is no probing. */
  readonly results: () => ProbeResults | undefined;
}

export interface ProbeFindings {
  /** Whether the container has started. `status`: its status in this sync, with the former findings of the same instance. */
  readonly hasStarted: (containerId: string, status: ContainerStatus) => boolean;
  readonly isReady: (containerId: string, status: ContainerStatus) => boolean;
}

export interface Prober extends PodProbes {
  /** Reads the results of an earlier agent and completes; emits nothing. Errors: none; a failure is logged. */
  readonly prepare$: Observable<never>;
  /**
   * Probes while it is subscribed, and emits the new results. Without a subscription there are no probes, and containers are treated
   * as containers without probes. Errors: none. Ends: never.
   */
  readonly change$: Observable<ProbeChange>;
  /** Takes that the status of the pod has changed in a field that probe workers read. */
  readonly look: (uid: string) => void;
  /** Stops the probes of all other pods and drops their results. */
  readonly retain: (uids: ReadonlySet<string>) => void;
}

export interface ProberOptions extends Omit<ProbeWorkerOptions, 'results' | 'metrics'> {
  readonly metrics: Pick<Metrics, 'probe' | 'probeWorkerEnded'>;
  readonly records: ProbeRecords;
  readonly log: Pick<Logger, 'warn'>;
  readonly scheduler: SchedulerLike;
}

/** A command for the workers of one pod. */
type PodCommand = { readonly uid: string } & (
  | { readonly kind: 'add'; readonly pod: Pod }
  | { readonly kind: 'stop-liveness-and-startup'; readonly regular: ReadonlySet<string> }
  | { readonly kind: 'look' }
  | { readonly kind: 'status-stored'; readonly status: PodStatus }
  | { readonly kind: 'remove' }
);
/** `retain`: the workers of all other pods stop. */
type ProbeCommand = PodCommand | { readonly kind: 'retain'; readonly uids: ReadonlySet<string> };

/**
 * Makes the prober for all pods of a node.
 *
 * Source: pkg/kubelet/prober/prober_manager.go
 */
export const prober = (options: ProberOptions): Prober => {
  const { metrics, records, recordEvent, log, scheduler, agentStart, startOf } = options;
  const results = new ProbeResultStore();
  const command$ = new Subject<ProbeCommand>();
  const changed$ = new Subject<void>();

  /** Drops the results at the end of a worker. An unsubscription of all keeps them for the next agent. */
  const ended = (worker: ProbeWorker): Observable<never> =>
    defer(() => {
      const { type, pod, container } = worker;
      results.keepOnly(type, { uid: pod.metadata.uid, container: container.name });
      metrics.probeWorkerEnded(worker);
      changed$.next();
      return EMPTY;
    });

  const run = (worker: ProbeWorker, ofPod$: Observable<PodCommand>): Observable<ProbeChange> => {
    const nudge$ = ofPod$.pipe(mergeMap((command) => nudgesOf(worker, command)));
    // The commands of the pod end when it is removed.
    const stop$ = ofPod$.pipe(
      filter((command) => stops(command, worker)),
      endWith(undefined),
    );
    return concat(probeWorker(worker, nudge$, { ...options, results }).pipe(takeUntil(stop$)), ended(worker));
  };

  const probesOfPod = (ofPod$: Observable<PodCommand>): Observable<ProbeChange> =>
    ofPod$.pipe(
      filter((command) => command.kind === 'add'),
      // A worker that has ended is not started again.
      take(1),
      mergeMap(({ pod }) => {
        const warned$ = defer(() => {
          for (const message of paceProblems(pod)) {
            recordEvent({ pod, type: 'Warning', reason: 'InvalidProbePeriod', message, causes: [] });
          }
          return EMPTY;
        });
        return merge(from(probeWorkersOf(pod)).pipe(mergeMap((worker) => run(worker, ofPod$))), warned$);
      }),
    );

  const probed = (pod: Pod, type: ProbeType, containerId: string, status: ContainerStatus): ProbedContainer => ({
    ...{ pod, status, agentStartedAt: agentStart.wallTime },
    isOwn: startOf && startOf(pod.metadata.uid, containerId) !== undefined,
    isProbed: command$.observed && isProbed(pod, status.name, type),
    result: command$.observed ? results.get(type, containerId) : undefined,
  });

  return {
    prepare$: defer(() => records.read()).pipe(
      tap({
        next: (read) => results.restore(read),
        error: (error: unknown) =>
          log.warn({ error: errorText(error) }, 'cannot read the results of the probes of an earlier agent'),
      }),
      ignoreElements(),
      catchError(() => EMPTY),
    ),
    change$: merge(
      command$.pipe(
        filter((command) => command.kind !== 'retain'),
        groupBy(({ uid }) => uid, {
          duration: (ofPod$) =>
            merge(
              ofPod$.pipe(filter(({ kind }) => kind === 'remove')),
              command$.pipe(filter((command) => command.kind === 'retain' && !command.uids.has(ofPod$.key))),
            ),
        }),
        mergeMap(probesOfPod),
        tap(() => changed$.next()),
      ),
      keepRecords(changed$, () => results.records(), { records, log, scheduler }),
    ),

    add: (pod) => command$.next({ kind: 'add', uid: pod.metadata.uid, pod }),
    stopLivenessAndStartup: ({ metadata: { uid }, spec }) => {
      const regular = new Set(spec.containers.map(({ name }) => name));
      command$.next({ kind: 'stop-liveness-and-startup', uid, regular });
    },
    remove: (uid) => {
      command$.next({ kind: 'remove', uid });
      if (results.forgetPod(uid)) changed$.next();
    },
    retain: (uids) => {
      command$.next({ kind: 'retain', uids });
      if (results.retain(uids)) changed$.next();
    },

    findings: (pod) => ({
      hasStarted: (containerId, status) => hasStarted(probed(pod, 'startup', containerId, status)),
      isReady: (containerId, status) => isReady(probed(pod, 'readiness', containerId, status)),
    }),
    look: (uid) => command$.next({ kind: 'look', uid }),
    statusStored: (uid, status) => command$.next({ kind: 'status-stored', uid, status }),
    results: () => {
      if (!command$.observed) return undefined;
      const verdict = (type: ProbeType) => (containerId: string) => {
        const result = results.get(type, containerId);
        return result === 'unknown' ? undefined : result;
      };
      return { liveness: verdict('liveness'), startup: verdict('startup') };
    },
  };
};

const nudgesOf = (worker: ProbeWorker, command: PodCommand): readonly ProbeNudge[] => {
  if (command.kind === 'look') return ['look'];
  if (command.kind !== 'status-stored') return [];
  return worker.type === 'readiness' && isAwaited(worker, command.status) ? ['look', 'trigger'] : ['look'];
};

const stops = (command: PodCommand, { type, container }: ProbeWorker): boolean =>
  command.kind === 'stop-liveness-and-startup' && type !== 'readiness' && command.regular.has(container.name);

/** Whether the container has started and is not ready yet. */
const isAwaited = ({ container }: ProbeWorker, { containerStatuses = [], initContainerStatuses = [] }: PodStatus) =>
  [containerStatuses, initContainerStatuses].some((statuses) =>
    allNamed(statuses, container.name).some(
      (status) => runtimeContainerId(status) !== '' && status.started && !status.ready,
    ),
  );
