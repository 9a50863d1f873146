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
import { DEADLINE_EXCEEDED } from '../model/active-deadline.js';
import { restoredPod } from '../model/cri/restored-pod.js';
import { errorText } from '../model/cri-error.js';
import {
  CONFIG_SEEN_ANNOTATION,
  isStaticPod,
  isTerminalPhase,
  type Pod,
  podRef,
  type PodStatus,
} from '../model/pod.js';
import { defaultWaitingReason } from '../model/pod-status/container-statuses.js';
import { generatePodStatus } from '../model/pod-status/generate-pod-status.js';
import { illegalTransition } from '../model/pod-status/illegal-transition.js';
import { newTerminations } from '../model/pod-status/new-terminations.js';
import { terminatedPodStatus } from '../model/pod-status/terminated-pod-status.js';
import type { PodStatusStore } from '../model/pod-status-store.js';
import type { ReasonCache } from '../model/reason-cache.js';
import { isQuiet, runningContainersOf } from '../model/runtime-pod.js';
import { NetworkNotReady } from '../model/sync-error.js';
import type { PodCgroups } from './cgroups/pod-cgroups.js';
import { clearNamesakes, type NamesakePorts } from './pod-sync/clear-namesakes.js';
import { ensurePodCgroup } from './pod-sync/ensure-pod-cgroup.js';
import { killPod } from './pod-sync/kill-pod.js';
import {
  emitEvent,
  letGo,
  note,
  type PodSyncContext,
  type PodSyncPorts,
  watchedRead,
} from './pod-sync/pod-sync-context.js';
import { METRIC_TYPES, type StartContainerPorts } from './pod-sync/start-container.js';
import { errorOf, syncContainers } from './pod-sync/sync-containers.js';
import type { PodRun, PodWork, RuntimePodRun } from './pod-workers.js';
import type { PodDirectories } from './pod-directories.js';
import type { PodProbes } from './probes/prober.js';
import type { RuntimeReader } from './runtime-reader.js';

export interface PodWorkPorts extends PodSyncPorts, StartContainerPorts, NamesakePorts {
  readonly reader: RuntimeReader;
  readonly podDirectories: Pick<PodDirectories, 'make'>;
  readonly podCgroups: PodCgroups;
  readonly probes: PodProbes;
  readonly statuses: PodStatusStore;
  readonly reasons: ReasonCache;
  /** Scheme of container ids in statuses, such as `containerd`. */
  readonly runtimeName: string;
  /** Why pods of their own network cannot start now; undefined while they can. */
  readonly networkProblem: () => string | undefined;
  /** The pod was changed: whoever waits for a newer view of it should not wait for the next relist. */
  readonly relistSoon: (uid: string) => void;
}

/**
 * What a worker does to its pod in each phase of its life.
 *
 * Source: pkg/kubelet/kubelet.go SyncPod, SyncTerminatingPod, SyncTerminatingRuntimePod, SyncTerminatedPod
 */
export const podWork = (ports: PodWorkPorts): PodWork => ({
  syncPod: (run, signal) => syncPod(ports, run, signal),
  syncTerminatingPod: (run) => syncTerminatingPod(ports, run),
  syncTerminatingRuntimePod: (run) => syncTerminatingRuntimePod(ports, run),
  syncTerminatedPod: (run) => syncTerminatedPod(ports, run),
});

const syncPod = (ports: PodWorkPorts, run: PodRun, signal: AbortSignal): Observable<{ readonly isTerminal: boolean }> =>
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
    const isNew = ports.statuses.get(run.uid) === undefined;
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
      isStaticPod(run.pod) && isQuiet(run.status) ? clearNamesakes(context, ports.reader, ports) : EMPTY;
    const sync$ = defer(() => {
      const inCgroup: PodSyncContext = { ...context, cgroupParent: ports.podCgroups.parentOf(run.pod) };
      const containers$ = defer(() => {
        ports.probes.add(run.pod);
        return syncContainers(inCgroup, run.status, ports, ports.probes.results());
      });
      return concat(makeDirectories(inCgroup, ports), containers$);
    });
    return concat(namesakes$, letGo(context), ensurePodCgroup(context, ports.podCgroups, run.status)).pipe(
      // Its own view of the pod is out of date after a kill; the next pass has a new one.
      concatMap((cgroup) => (cgroup === 'killed' ? of({ starts: [], acted: true, hasReset: false }) : sync$)),
      tap({
        next: (sync) => {
          for (const { container, error } of sync.starts) {
            ports.reasons.set(run.uid, container, error && { reason: error.reason, message: error.message });
          }
          if (sync.acted) ports.relistSoon(run.uid);
        },
        // Something may have been done before it failed, or been done all the same.
        error: () => ports.relistSoon(run.uid),
      }),
      concatMap((sync) => {
        const error = errorOf(sync);
        // The runtime's word that something was removed wakes nobody. Source: pkg/kubelet/kubelet.go SyncPod
        if (!error) return of({ isTerminal: false, ...(sync.hasReset && { isUnfinished: true }) });
        // A refused start shows as a waiting reason at once, not only with the next change of the runtime.
        store();
        return throwError(() => error);
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
    const confirm$ = defer(() => watchedRead(ports, about, ports.reader.podStatus(about.pod))).pipe(
      map((fresh) => {
        const running = runningContainersOf(fresh);
        if (running.length > 0) {
          const ids = running.map(({ id }) => id).join(' ');
          throw new Error(`detected running containers after a successful KillPod, CRI violation: [${ids}]`);
        }
        // The sandbox is gone and its addresses with it, but the pod had them until its end.
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
    ports.podReferences?.unregister(run.pod);
    const end$ = defer(() => {
      ports.statuses.set(run.uid, terminatedPodStatus(run.pod, status), true);
      return EMPTY;
    });
    // Whatever has memory in it goes first: what a volume holds would be charged to the cgroup above.
    return concat(ports.podCgroups.destroy(run.pod), end$);
  });

/** Something may have been done before the work failed, or be done all the same. */
const relistAtEnd = ({ relistSoon }: PodWorkPorts, uid: string): MonoTypeOperatorFunction<never> => {
  const relist = (): void => relistSoon(uid);
  return tap({ complete: relist, error: relist });
};

/** How a status is to be made. */
interface StatusView {
  readonly podIsTerminal: boolean;
  readonly statusOverride?: (status: PodStatus) => PodStatus;
  /** The pod has got a sandbox in this run. */
  readonly hasNewSandbox?: boolean;
  /** What the start of a container, or of all of them, waits for. */
  readonly waits?: { readonly container?: string; readonly text: string } | undefined;
}

/**
 * Generates the status from what the runtime shows, stores it, notes a change of phase, and measures what is new in it. One in which a
 * container that has ended for good would run again is not stored.
 */
const storeStatus = (
  context: PodSyncContext,
  ports: PodWorkPorts,
  { status: runtime, mirrorPod }: Pick<PodRun, 'status' | 'mirrorPod'>,
  { podIsTerminal, statusOverride = (status) => status, waits, hasNewSandbox = false }: StatusView,
): PodStatus => {
  const { pod } = context;
  const { statuses, reasons, metrics, probes, wallClock, runtimeName, node } = ports;
  const { uid } = pod.metadata;
  const previous = statuses.get(uid);
  const status = statusOverride(
    generatePodStatus({
      pod,
      runtime,
      previous,
      reported: mirrorPod?.status,
      hasNewSandbox,
      podIsTerminal,
      now: wallClock(),
      runtimeName,
      hostIps: node.nodeIps,
      showsStopSignals: node.containerStopSignals,
      ...probes.findings(pod),
      startFailure: (container) =>
        waits && (waits.container ?? container) === container
          ? { reason: defaultWaitingReason(pod), message: waits.text }
          : reasons.get(uid, container),
    }),
  );
  const illegal = illegalTransition(pod, previous ?? mirrorPod?.status ?? pod.status ?? {}, status);
  if (illegal !== undefined) {
    ports.log.error({ uid, error: illegal }, 'a status of the pod is left out');
    return status;
  }
  if (statuses.set(uid, status) && status.phase !== undefined && status.phase !== previous?.phase) {
    note(context, { kind: 'phase', from: previous?.phase, to: status.phase, reason: status.reason });
    if (status.reason === DEADLINE_EXCEEDED.reason) {
      emitEvent(context, 'Normal', DEADLINE_EXCEEDED.reason, DEADLINE_EXCEEDED.message);
    }
  }
  probes.statusStored(uid, status);
  for (const { kind, exitCode, reason } of newTerminations(previous, status)) {
    metrics.containerTerminated(METRIC_TYPES[kind], exitCode, reason);
  }
  // Upstream also counts pods that ran already when the agent started; those say nothing about how fast pods start.
  if (previous?.phase === 'Pending' && status.phase === 'Running') sinceSeen(ports, pod, metrics.podStart);
  return status;
};

/**
 * Measures the seconds since this agent saw the pod first.
 *
 * Source: pkg/kubelet/kubelet.go SyncPod, firstSeenTime
 */
const sinceSeen = ({ wallClock }: PodWorkPorts, pod: Pod, observe: (seconds: number) => void): void => {
  const seenAt = Date.parse(pod.metadata.annotations?.[CONFIG_SEEN_ANNOTATION] ?? '');
  if (!Number.isNaN(seenAt)) observe(Math.max(0, wallClock() - seenAt) / 1000);
};
