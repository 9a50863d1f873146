import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import { DEADLINE_EXCEEDED } from '../../model/pod/active-deadline.js';
import { activeMsOf } from '../../model/pod/active-times.js';
import { withAllocated } from '../../model/pod/allocated-resources.js';
import { isMirrorOf } from '../../model/pod/mirror-pod.js';
import { allocatedOfContainers } from '../../model/cri/labels.js';
import { restoredPod } from '../../model/cri/restored-pod.js';
import { errorText } from '../../model/cri/cri-error.js';
import {
  CONFIG_SEEN_ANNOTATION,
  isStaticPod,
  isTerminalPhase,
  type Pod,
  podRef,
  type PodStatus,
} from '../../model/pod/pod.js';
import { resizeEvent } from '../../model/pod-status/conditions.js';
import { defaultWaitingReason } from '../../model/pod-status/container-statuses.js';
import { generatePodStatus } from '../../model/pod-status/generate-pod-status.js';
import { illegalTransition, withFormerEnds, withoutRunAnew } from '../../model/pod-status/illegal-transition.js';
import { newTerminations } from '../../model/pod-status/new-terminations.js';
import { terminatedPodStatus } from '../../model/pod-status/terminated-pod-status.js';
import type { StartFailure } from '../../model/pod-actions/start-failures.js';
import { saysRestartAll } from '../../model/pod-actions/restart-all.js';
import { isQuiet, type RuntimePod, type RuntimePodStatus, runningContainersOf } from '../../model/pleg/runtime-pod.js';
import { earliestEnd, isStartWait } from '../../model/pod-actions/start-wait.js';
import { NetworkNotReady, PodSyncError, problemsText } from '../../model/pod-actions/sync-error.js';
import { withShownEnds } from '../../model/pod-actions/with-shown-ends.js';
import { volumesRefusal } from '../../model/volumes/refused-volumes.js';
import { waitFailedText } from '../../model/volumes/volume-texts.js';
import type { PodCgroups } from '../cgroups/pod-cgroups.js';
import { seeLostStarts } from '../pod-sync/begun-starts.js';
import { findDueHooks } from '../pod-sync/due-hooks.js';
import { ensurePodCgroup } from '../pod-sync/ensure-pod-cgroup.js';
import { killPod } from '../pod-sync/kill-pod.js';
import {
  emitEvent,
  throwIfCancelled,
  journal,
  type PodSyncContext,
  type PodSyncPorts,
  journalIfSlow,
} from '../pod-sync/pod-sync-context.js';
import { METRIC_TYPES, type StartContainerPorts } from '../pod-sync/start-container.js';
import { mountVolumes } from '../pod-sync/mount-volumes.js';
import { stopPreviousRevision } from '../pod-sync/stop-previous-revision.js';
import { syncContainers } from '../pod-sync/sync-containers.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { PodRun, PodWork, RuntimePodRun, SyncResult } from './pod-workers.js';
import type { PodDirectories } from '../upkeep/pod-directories.js';
import type { PodProbes, ProbeFindings } from '../probes/prober.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';
import { allNamed } from '../../model/values/indexed-lists.js';

export interface PodWorkPorts extends PodSyncPorts, Omit<StartContainerPorts, 'state'> {
  readonly state: Pick<
    KubeletState,
    | 'pods'
    | 'sources'
    | 'statuses'
    | 'startFailures'
    | 'dueHooks'
    | 'restarts'
    | 'pulls'
    | 'workers'
    | 'apply'
    | 'value'
  >;
  readonly reader: RuntimeReader;
  /** The pods of the last successful relist, without a call. Default: none. */
  readonly listedPods?: () => readonly RuntimePod[];
  readonly podDirectories: Pick<PodDirectories, 'make'>;
  readonly podCgroups: PodCgroups;
  readonly probes: PodProbes;
  /** Scheme of container ids in statuses, such as `containerd`. */
  readonly runtimeName: string;
  /** The reason why pods with a network of their own cannot start now; undefined while they can. */
  readonly networkProblem: () => string | undefined;
  /** Requests a relist of a pod that was changed, since the next run waits for a newer view of it. */
  readonly relistSoon: (uid: string) => void;
}

/**
 * The work of a pod worker in each phase of its pod.
 *
 * Source: pkg/kubelet/kubelet.go SyncPod, SyncTerminatingPod, SyncTerminatingRuntimePod, SyncTerminatedPod
 */
export const podWork = (ports: PodWorkPorts): PodWork => {
  // Every decision of a run is made on one view.
  const seen = (run: PodRun): Observable<PodRun> =>
    viewOf(ports, run, run.status).pipe(map((status) => asCreated({ ...run, status })));
  const seenAtEnd = (run: PodRun): Observable<PodRun> =>
    viewAtEnd(ports, run, run.status).pipe(map((status) => asCreated({ ...run, status })));
  return {
    syncPod: (run, signal) => seen(run).pipe(concatMap((known) => syncPod(ports, known, signal))),
    syncTerminatingPod: (run) => seenAtEnd(run).pipe(concatMap((known) => syncTerminatingPod(ports, known))),
    syncTerminatingRuntimePod: (run) => syncTerminatingRuntimePod(ports, run),
    syncTerminatedPod: (run) => seenAtEnd(run).pipe(concatMap((known) => syncTerminatedPod(ports, known))),
  };
};

/**
 * The view of a pod, with the ends that its status shows and the starts that the agent has marked, also if the runtime has lost them.
 * Errors: the marks cannot be read.
 */
const viewOf = (ports: PodWorkPorts, run: PodRun, listed: RuntimePodStatus): Observable<RuntimePodStatus> =>
  defer(() => seeLostStarts({ pod: run.pod, ports }, withShownEnds(listed, lastStatus(ports, run))));

/** The run of the pod with the amounts of its containers, which an agent before this one may have created. */
const asCreated = (run: PodRun): PodRun => ({
  ...run,
  pod: withAllocated(run.pod, allocatedOfContainers(run.status.containers)),
});

/** The same view for the stop of a pod, which goes on without marks that cannot be read. Errors: none. */
const viewAtEnd = (ports: PodWorkPorts, run: PodRun, listed: RuntimePodStatus): Observable<RuntimePodStatus> =>
  viewOf(ports, run, listed).pipe(catchError(() => of(withShownEnds(listed, lastStatus(ports, run)))));

const syncPod = (ports: PodWorkPorts, run: PodRun, signal: AbortSignal): Observable<SyncResult> =>
  concat(findDueHooks({ pod: run.pod, ports }, run.status, ports.state), syncKnownPod(ports, run, signal));

const syncKnownPod = (ports: PodWorkPorts, run: PodRun, signal: AbortSignal): Observable<SyncResult> =>
  defer(() => {
    let hasNewSandbox = false;
    const store = (waits?: StatusView['waits']): PodStatus =>
      storeStatus(context, ports, run, { podIsTerminal: false, hasNewSandbox, waits });
    const context: PodSyncContext = {
      ...{ pod: run.pod, ports, causes: run.causes, signal },
      waitsFor: store,
      sandboxReady: () => {
        hasNewSandbox = true;
        store();
      },
    };
    const isNew = ports.state.statuses.get(run.uid) === undefined;
    const status = store();
    if (isTerminalPhase(status.phase)) return of({ isTerminal: true });
    if (isNew) sinceSeen(ports, run.pod, ports.metrics.podWorkerStart);
    const problem = ports.networkProblem();
    if (problem !== undefined && !run.pod.spec.hostNetwork) {
      emitEvent(context, 'Warning', 'NetworkNotReady', `network is not ready: ${problem}`);
      return throwError(() => new NetworkNotReady(problem));
    }
    if (!signal.aborted) ports.podReferences?.register(run.pod);
    const namesakes$ =
      isStaticPod(run.pod) && isQuiet(run.status)
        ? stopPreviousRevision(context, ports.reader, ports.state, ports.listedPods)
        : EMPTY;
    const sync$ = defer(() => {
      const inCgroup: PodSyncContext = { ...context, cgroupParent: ports.podCgroups.parentOf(run.pod) };
      const containers$ = defer(() => {
        ports.probes.add(run.pod);
        return syncContainers(inCgroup, run.status, ports, {
          probeResults: ports.probes.results(),
          restartAll: saysRestartAll(status),
          last: status,
        });
      });
      return concat(makeDirectories(inCgroup, ports), mountVolumes(inCgroup), containers$);
    });
    return concat(namesakes$, throwIfCancelled(context), ensurePodCgroup(context, ports.podCgroups, run.status)).pipe(
      // The view of this sync is out of date after a kill; the next sync has a newer one.
      concatMap((cgroup) =>
        cgroup === 'killed' ? of({ starts: [], acted: true, endedHooks: false, hasReset: false }) : sync$,
      ),
      tap({
        next: (sync) => {
          for (const { container, problem } of sync.starts) {
            const failure = problem && { reason: problem.reason, message: problem.message };
            ports.state.apply({ kind: 'start-ended', uid: run.uid, container, failure });
          }
          if (sync.endedHooks) store();
          if (sync.acted) ports.relistSoon(run.uid);
        },
        // A failed sync may have changed the pod.
        error: () => ports.relistSoon(run.uid),
      }),
      concatMap((sync): Observable<SyncResult> => {
        const problems = sync.starts.flatMap(({ problem }) => (problem ? [problem] : []));
        // The event of a removed container wakes no worker. Source: pkg/kubelet/kubelet.go SyncPod
        if (problems.length === 0) return of({ isTerminal: false, ...(sync.hasReset && { isUnfinished: true }) });
        // The status shows the waiting reason at once, not only with the next change of the runtime.
        store();
        if (!problems.every(isStartWait)) return throwError(() => new PodSyncError(problems));
        return of({ isTerminal: false, wait: { message: problemsText(problems), waitsUntil: earliestEnd(problems) } });
      }),
    );
  });

const makeDirectories = (context: PodSyncContext, { podDirectories }: PodWorkPorts): Observable<never> =>
  podDirectories.make(context.pod.metadata.uid).pipe(
    catchError((error: unknown) => {
      emitEvent(context, 'Warning', 'Failed', `error making pod data directories: ${errorText(error)}`);
      return throwError(() => error);
    }),
  );

const syncTerminatingPod = (ports: PodWorkPorts, run: PodRun): Observable<never> =>
  defer(() => {
    const context: PodSyncContext = { pod: run.pod, ports, causes: run.causes };
    const { statusOverride } = run;
    storeStatus(context, ports, run, { podIsTerminal: false, statusOverride });
    ports.probes.stopLivenessAndStartup(run.pod);
    ports.volumes.leave(run.uid);
    const kill$ = concat(killPod(context, run.status, run.graceSeconds), ports.podCgroups.weigh()).pipe(
      catchError((error: unknown) => {
        emitEvent(context, 'Warning', 'FailedKillPod', `error killing pod: ${errorText(error)}`);
        return throwError(() => error);
      }),
    );
    const about = { pod: podRef(run.pod), causes: run.causes };
    const removeProbes$ = defer(() => {
      ports.probes.remove(run.uid);
      return EMPTY;
    });
    const confirm$ = defer(() => journalIfSlow(ports, about, ports.reader.podStatus(about.pod))).pipe(
      concatMap((listed) => viewAtEnd(ports, run, listed)),
      map((fresh) => {
        const running = runningContainersOf(fresh);
        if (running.length > 0) {
          const ids = running.map(({ id }) => id).join(' ');
          throw new Error(`detected running containers after a successful KillPod, CRI violation: [${ids}]`);
        }
        // The addresses are gone with the sandbox, but the pod had them until its end.
        const ips = fresh.ips.length > 0 ? fresh.ips : run.status.ips;
        storeStatus(context, ports, { ...run, status: { ...fresh, ips } }, { podIsTerminal: true, statusOverride });
      }),
    );
    return concat(kill$, removeProbes$, confirm$.pipe(ignoreElements())).pipe(relistAtEnd(ports, run.uid));
  });

const syncTerminatingRuntimePod = (ports: PodWorkPorts, run: RuntimePodRun): Observable<never> =>
  ports.reader.podStatus(run.runningPod).pipe(
    concatMap((status) => {
      const pod = restoredPod(run.runningPod, status);
      const context: PodSyncContext = { pod, ports, causes: run.causes };
      return concat(killPod(context, status, run.graceSeconds), ports.podCgroups.weigh()).pipe(
        catchError((error: unknown) => {
          emitEvent(context, 'Warning', 'FailedKillPod', `error killing pod: ${errorText(error)}`);
          return throwError(() => error);
        }),
      );
    }),
    ignoreElements(),
    relistAtEnd(ports, run.uid),
  );

const syncTerminatedPod = (ports: PodWorkPorts, run: PodRun): Observable<never> =>
  defer(() => {
    const context: PodSyncContext = { pod: run.pod, ports, causes: run.causes };
    const status = storeStatus(context, ports, run, { podIsTerminal: true });
    const unregister$ = defer(() => {
      ports.podReferences?.unregister(run.pod);
      return EMPTY;
    });
    const end$ = defer(() => {
      const ended = terminatedPodStatus(run.pod, status);
      ports.state.apply({ kind: 'status', uid: run.uid, status: ended, isFinished: true });
      return EMPTY;
    });
    // Volumes go first: the memory that a tmpfs holds would be charged to the cgroup above that of the pod.
    return concat(ports.volumes.unmount(run.pod, run.causes), unregister$, ports.podCgroups.destroy(run.pod), end$);
  });

/** Requests a relist of the pod, also after failed work, which may have changed it. */
const relistAtEnd = ({ relistSoon }: PodWorkPorts, uid: string): MonoTypeOperatorFunction<never> => {
  const relist = (): void => relistSoon(uid);
  return tap({ complete: relist, error: relist });
};

/** A container has not started while its postStart hook is due. */
const findings = ({ probes, state }: PodWorkPorts, pod: Pod): ProbeFindings => {
  const { hasStarted, isReady } = probes.findings(pod);
  const isDue = (id: string): boolean => state.dueHooks.has(pod.metadata.uid, id);
  return { isReady, hasStarted: (id, status) => !isDue(id) && hasStarted(id, status) };
};

/**
 * The API's status of a static pod. The status of another version of the manifest, or of the former life of a pod that started over, is that
 * of another pod, and would make every new status illegal. Upstream takes it nevertheless, and stores no status until the mirror pod is new.
 */
const reportedStatus = (
  { state }: PodWorkPorts,
  { uid, pod, mirrorPod }: Pick<PodRun, 'uid' | 'pod' | 'mirrorPod'>,
): PodStatus | undefined =>
  mirrorPod && isMirrorOf(mirrorPod, pod) && !state.statuses.isReborn(uid) ? mirrorPod.status : undefined;

/** The last status of the pod: from this agent, or else from the API. */
const lastStatus = (ports: PodWorkPorts, run: Pick<PodRun, 'uid' | 'pod' | 'mirrorPod'>): PodStatus =>
  ports.state.statuses.get(run.uid) ?? reportedStatus(ports, run) ?? run.pod.status ?? {};

/** The inputs of a status beside the runtime's view of the pod. */
interface StatusView {
  readonly podIsTerminal: boolean;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  /** The pod has a new sandbox since this run. */
  readonly hasNewSandbox?: boolean;
  /** The reason why the start of one container, or of all containers, waits. */
  readonly waits?: { readonly container?: string; readonly text: string } | undefined;
}

/**
 * Generates the status from the runtime's view of the pod, stores it, records a change of phase, and measures starts and ends. Does
 * not store a status in which a container that has ended for good would run again.
 */
const storeStatus = (
  context: PodSyncContext,
  ports: PodWorkPorts,
  run: Pick<PodRun, 'uid' | 'pod' | 'status' | 'mirrorPod'>,
  { podIsTerminal, statusOverride = (status) => status, waits, hasNewSandbox = false }: StatusView,
): PodStatus => {
  const { pod } = context;
  const { state, metrics, probes, podCgroups, scheduler, wallClock, runtimeName, node } = ports;
  const { statuses, startFailures, apply } = state;
  const { uid } = pod.metadata;
  const previous = statuses.get(uid);
  const reported = reportedStatus(ports, run);
  const before = lastStatus(ports, run);
  const asked = state.pods.asked(uid) ?? pod;
  const { startTime } = previous ?? pod.status ?? {};
  noteStart(ports, uid, startTime);
  const generated = statusOverride(
    generatePodStatus({
      pod,
      asked,
      runtime: run.status,
      previous,
      reported,
      hasNewSandbox,
      podIsTerminal,
      now: wallClock(),
      activeMs: activeMsOf(state.value.activeTimes, uid, startTime, scheduler.now()),
      runtimeName,
      hostIps: node.nodeIps,
      podCgroup: podCgroups.resourcesOf(pod),
      showsStopSignals: node.containerStopSignals,
      ...findings(ports, pod),
      startFailure: (container) =>
        waits && (waits.container ?? container) === container
          ? { reason: defaultWaitingReason(pod), message: waits.text }
          : (startFailures.get(uid, container) ?? volumeFailure(pod)),
    }),
  );
  // After a restart of the agent a static pod may be in a new life, while its mirror pod still shows the former one.
  const mayBeNewLife = previous === undefined && isStaticPod(pod);
  const status = mayBeNewLife ? generated : withFormerEnds(pod, before, generated);
  const illegal = illegalTransition(pod, withoutRunAnew(pod, before, status), status);
  if (illegal !== undefined && !(mayBeNewLife && runsAsAnother(reported, status))) {
    ports.log.error({ uid, error: illegal }, 'does not store a status of the pod');
    return status;
  }
  if (apply({ kind: 'status', uid, status }) && status.phase !== undefined && status.phase !== previous?.phase) {
    journal(context, { kind: 'phase', from: previous?.phase, to: status.phase, reason: status.reason });
    if (status.reason === DEADLINE_EXCEEDED.reason) {
      emitEvent(context, 'Normal', DEADLINE_EXCEEDED.reason, DEADLINE_EXCEEDED.message);
    }
  }
  const resize = resizeEvent(asked, before, status);
  if (resize) emitEvent(context, 'Warning', resize.reason, resize.message);
  probes.statusStored(uid, status);
  for (const { kind, exitCode, reason } of newTerminations(previous, status)) {
    metrics.containerTerminated(METRIC_TYPES[kind], exitCode, reason);
  }
  // Upstream also counts pods that ran before the agent started; their time is not a start time.
  if (previous?.phase === 'Pending' && status.phase === 'Running') sinceSeen(ports, pod, metrics.podStart);
  return status;
};

/**
 * Upstream leaves such a container at its first reason and without a message, and only the event names the volume. The reason is the
 * same here; the message is that of the event, which expires. All containers of the pod wait, as they do for any volume.
 */
const volumeFailure = (pod: Pod): StartFailure | undefined => {
  const refusal = volumesRefusal(pod);
  return refusal === undefined ? undefined : { reason: defaultWaitingReason(pod), message: waitFailedText(refusal) };
};

/** Whether a container that had ended runs as another instance. */
const runsAsAnother = (before: PodStatus | undefined, status: PodStatus): boolean =>
  [...(status.containerStatuses ?? []), ...(status.initContainerStatuses ?? [])].some(
    ({ name, state, containerID }) =>
      state?.running !== undefined &&
      [before?.containerStatuses, before?.initContainerStatuses].some((list) =>
        allNamed(list ?? [], name).some(
          (other) => other.state?.terminated !== undefined && other.containerID !== containerID,
        ),
      ),
  );

/** Remembers when the pod started, also without a deadline: it may get one later. */
const noteStart = ({ state, scheduler, wallClock }: PodWorkPorts, uid: string, startTime: string | undefined): void => {
  if (startTime === undefined) return;
  state.apply({ kind: 'start-time-seen', uid, startTime, now: scheduler.now(), wallNow: wallClock() });
};

/** Measures the seconds since this agent saw the pod first. Source: pkg/kubelet/kubelet.go SyncPod, firstSeenTime */
const sinceSeen = ({ wallClock }: PodWorkPorts, pod: Pod, observe: (seconds: number) => void): void => {
  const seenAt = Date.parse(pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '');
  if (!Number.isNaN(seenAt)) observe(Math.max(0, wallClock() - seenAt) / 1000);
};
