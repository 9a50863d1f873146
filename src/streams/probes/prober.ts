import {
  catchError,
  concat,
  defer,
  EMPTY,
  finalize,
  ignoreElements,
  merge,
  mergeMap,
  type Observable,
  type SchedulerLike,
  Subject,
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

/** A running worker, with the subjects that control it. */
interface Handle {
  readonly worker: ProbeWorker;
  readonly nudge$: Subject<ProbeNudge>;
  readonly stop$: Subject<void>;
}

/**
 * Makes the prober for all pods of a node.
 *
 * Source: pkg/kubelet/prober/prober_manager.go
 */
export const prober = (options: ProberOptions): Prober => {
  const { metrics, records, recordEvent, log, scheduler, agentStart, startOf } = options;
  const results = new ProbeResultStore();
  const start$ = new Subject<ProbeWorker>();
  const changed$ = new Subject<void>();
  const handles = new Map<string, Map<string, Handle>>();
  /** The pods whose workers were started. A worker that has ended is not started again. */
  const added = new Set<string>();

  const handlesOf = (uid: string): readonly Handle[] => [...(handles.get(uid)?.values() ?? [])];

  /** Drops the results at the end of a worker. An unsubscription of all keeps them for the next agent. */
  const forget = (handle: Handle): void => {
    const { type, pod, container } = handle.worker;
    const { uid } = pod.metadata;
    release(handle);
    results.keepOnly(type, { uid, container: container.name });
    metrics.probeWorkerEnded(handle.worker);
    changed$.next();
  };
  const release = (handle: Handle): void => {
    const { uid } = handle.worker.pod.metadata;
    const ofPod = handles.get(uid);
    const key = keyOf(handle.worker);
    if (ofPod?.get(key) === handle) ofPod.delete(key);
    if (ofPod?.size === 0) handles.delete(uid);
  };

  const run = (worker: ProbeWorker): Observable<ProbeChange> =>
    defer(() => {
      const handle: Handle = { worker, nudge$: new Subject(), stop$: new Subject() };
      const { uid } = worker.pod.metadata;
      const ofPod = handles.get(uid) ?? new Map<string, Handle>();
      handles.set(uid, ofPod.set(keyOf(worker), handle));
      const end$ = defer(() => {
        forget(handle);
        return EMPTY;
      });
      const work$ = probeWorker(worker, handle.nudge$, { ...options, results }).pipe(takeUntil(handle.stop$));
      return concat(work$, end$).pipe(finalize(() => release(handle)));
    });

  const probed = (pod: Pod, type: ProbeType, containerId: string, status: ContainerStatus): ProbedContainer => ({
    ...{ pod, status, agentStartedAt: agentStart.wallTime },
    isOwn: startOf && startOf(pod.metadata.uid, containerId) !== undefined,
    isProbed: start$.observed && isProbed(pod, status.name, type),
    result: start$.observed ? results.get(type, containerId) : undefined,
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
      start$.pipe(
        mergeMap(run),
        tap(() => changed$.next()),
      ),
      keepRecords(changed$, () => results.records(), { records, log, scheduler }),
    ),

    add: (pod) => {
      const { uid } = pod.metadata;
      if (added.has(uid) || !start$.observed) return;
      added.add(uid);
      for (const worker of probeWorkersOf(pod)) start$.next(worker);
      for (const message of paceProblems(pod)) {
        recordEvent({ pod, type: 'Warning', reason: 'InvalidProbePeriod', message, causes: [] });
      }
    },
    stopLivenessAndStartup: ({ metadata: { uid }, spec }) => {
      const regular = new Set(spec.containers.map(({ name }) => name));
      for (const { worker, stop$ } of handlesOf(uid)) {
        if (worker.type !== 'readiness' && regular.has(worker.container.name)) stop$.next();
      }
    },
    remove: (uid) => {
      added.delete(uid);
      for (const { stop$ } of handlesOf(uid)) stop$.next();
      if (results.forgetPod(uid)) changed$.next();
    },
    retain: (uids) => {
      for (const uid of added) {
        if (uids.has(uid)) continue;
        added.delete(uid);
        for (const { stop$ } of handlesOf(uid)) stop$.next();
      }
      if (results.retain(uids)) changed$.next();
    },

    findings: (pod) => ({
      hasStarted: (containerId, status) => hasStarted(probed(pod, 'startup', containerId, status)),
      isReady: (containerId, status) => isReady(probed(pod, 'readiness', containerId, status)),
    }),
    look: (uid) => {
      for (const { nudge$ } of handlesOf(uid)) nudge$.next('look');
    },
    statusStored: (uid, status) => {
      for (const { worker, nudge$ } of handlesOf(uid)) {
        nudge$.next('look');
        if (worker.type === 'readiness' && isAwaited(worker, status)) nudge$.next('trigger');
      }
    },
    results: () => {
      if (!start$.observed) return undefined;
      const verdict = (type: ProbeType) => (containerId: string) => {
        const result = results.get(type, containerId);
        return result === 'unknown' ? undefined : result;
      };
      return { liveness: verdict('liveness'), startup: verdict('startup') };
    },
  };
};

const keyOf = ({ type, container }: ProbeWorker): string => `${type} ${container.name}`;

/** Whether the container has started and is not ready yet. */
const isAwaited = ({ container }: ProbeWorker, { containerStatuses = [], initContainerStatuses = [] }: PodStatus) =>
  [containerStatuses, initContainerStatuses].some((statuses) =>
    allNamed(statuses, container.name).some(
      (status) => runtimeContainerId(status) !== '' && status.started && !status.ready,
    ),
  );
