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
import { errorText } from '../../model/cri-error.js';
import type { ProbeResults } from '../../model/pod-actions.js';
import { runtimeContainerId } from '../../model/pod-status/container-statuses.js';
import type { ContainerStatus, Pod, PodStatus } from '../../model/pod.js';
import { paceProblems } from '../../model/probes/probe-pace.js';
import { ProbeResultStore } from '../../model/probes/probe-result-store.js';
import { isProbed, type ProbeType, type ProbeWorker, probeWorkersOf } from '../../model/probes/probe-worker.js';
import { hasStarted, isReady, type ProbedContainer } from '../../model/probes/probed-status.js';
import type { Logger, Metrics, ProbeRecords } from '../ports.js';
import { keepRecords } from './keep-records.js';
import { type ProbeChange, type ProbeNudge, probeWorker, type ProbeWorkerOptions } from './probe-worker.js';

/** Probes as the work on a pod sees them. */
export interface PodProbes {
  /** Probes the containers of the pod from now on, unless that is done already. */
  readonly add: (pod: Pod) => void;
  /** The pod is stopping: nothing restarts a regular container any more, but whether it is ready is still asked. */
  readonly stopLivenessAndStartup: (pod: Pod) => void;
  /** The pod has stopped. */
  readonly remove: (uid: string) => void;
  /** What a status says of the containers that run. */
  readonly findings: (pod: Pod) => ProbeFindings;
  /** A status of the pod was made and stored. */
  readonly statusStored: (uid: string, status: PodStatus) => void;
  /** What has to be done to containers; `undefined` where nobody probes. */
  readonly results: () => ProbeResults | undefined;
}

export interface ProbeFindings {
  /** `status` with what was said of the same instance before. */
  readonly hasStarted: (containerId: string, status: ContainerStatus) => boolean;
  readonly isReady: (containerId: string, status: ContainerStatus) => boolean;
}

export interface Prober extends PodProbes {
  /** Reads what an earlier agent knew, and completes; emits nothing. Errors: none; what cannot be read is said. */
  readonly prepare$: Observable<never>;
  /**
   * Probes while it is subscribed, and emits what becomes known. Where nobody subscribes nothing is probed, and containers are
   * as if they had no probes. Errors: none. Ends: never.
   */
  readonly change$: Observable<ProbeChange>;
  /** The status of the pod has changed in what workers look at. */
  readonly look: (uid: string) => void;
  /** Ends the workers of all pods but these, and forgets what was known of others. */
  readonly retain: (uids: ReadonlySet<string>) => void;
}

export interface ProberOptions extends Omit<ProbeWorkerOptions, 'results' | 'metrics'> {
  readonly metrics: Pick<Metrics, 'probe' | 'probeWorkerEnded'>;
  readonly records: ProbeRecords;
  readonly log: Pick<Logger, 'warn'>;
  readonly scheduler: SchedulerLike;
}

/** A worker that runs, and how it is told something. */
interface Handle {
  readonly worker: ProbeWorker;
  readonly nudge$: Subject<ProbeNudge>;
  readonly stop$: Subject<void>;
}

/**
 * The probes of all pods of a node.
 *
 * Source: pkg/kubelet/prober/prober_manager.go
 */
export const prober = (options: ProberOptions): Prober => {
  const { metrics, records, recordEvent, log, scheduler, agentStart } = options;
  const results = new ProbeResultStore();
  const start$ = new Subject<ProbeWorker>();
  const changed$ = new Subject<void>();
  const handles = new Map<string, Map<string, Handle>>();
  /** Pods whose workers have begun; one that has left does not come back. */
  const added = new Set<string>();

  const handlesOf = (uid: string): readonly Handle[] => [...(handles.get(uid)?.values() ?? [])];

  /** What is known goes only with the end of a worker: when everything is torn down, the next agent shall have it. */
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
    isProbed: start$.observed && isProbed(pod, status.name, type),
    result: start$.observed ? results.get(type, containerId) : undefined,
  });

  return {
    prepare$: defer(() => records.read()).pipe(
      tap({
        next: (read) => results.restore(read),
        error: (error: unknown) =>
          log.warn({ error: errorText(error) }, 'what an earlier agent knew by its probes cannot be read'),
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

/** The container has started, and only its readiness is still waited for. */
const isAwaited = ({ container }: ProbeWorker, { containerStatuses = [], initContainerStatuses = [] }: PodStatus) =>
  [...containerStatuses, ...initContainerStatuses].some(
    (status) => status.name === container.name && runtimeContainerId(status) !== '' && status.started && !status.ready,
  );
