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
import { withAllocated } from '../../model/pod/allocated-resources.js';
import { allocatedOfContainers } from '../../model/cri/labels.js';
import { actuatedIn } from '../../model/resize/actuated.js';
import { allocatedIn, amountsOfPod } from '../../model/resize/pod-resizes.js';
import { restoredPod } from '../../model/cri/restored-pod.js';
import { errorText } from '../../model/cri/cri-error.js';
import { isStaticPod, isTerminalPhase, podRef, type PodStatus } from '../../model/pod/pod.js';
import { terminatedPodStatus } from '../../model/pod-status/terminated-pod-status.js';
import { saysRestartAll } from '../../model/pod-actions/restart-all.js';
import { isQuiet, type RuntimePod, type RuntimePodStatus, runningContainersOf } from '../../model/pleg/runtime-pod.js';
import { earliestEnd, isStartWait } from '../../model/pod-actions/start-wait.js';
import { NetworkNotReady, PodSyncError, problemsText, SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { withShownEnds } from '../../model/pod-actions/with-shown-ends.js';
import type { PodCgroups } from '../cgroups/pod-cgroups.js';
import { seeLostStarts } from '../pod-sync/begun-starts.js';
import { findDueHooks } from '../pod-sync/due-hooks.js';
import { ensurePodCgroup } from '../pod-sync/ensure-pod-cgroup.js';
import { killPod } from '../pod-sync/kill-pod.js';
import { emitEvent, throwIfCancelled, type PodSyncContext, journalIfSlow } from '../pod-sync/pod-sync-context.js';
import { type StartContainerPorts } from '../pod-sync/start-container.js';
import { mountVolumes } from '../pod-sync/mount-volumes.js';
import { stopPreviousRevision } from '../pod-sync/stop-previous-revision.js';
import { type ContainersSync, syncContainers } from '../pod-sync/sync-containers.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { PodRun, PodWork, RuntimePodRun, SyncResult } from './pod-workers.js';
import type { PodDirectories } from '../upkeep/pod-directories.js';
import type { PodProbes } from '../probes/prober.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';
import type { AmountKeeper } from '../resize/amount-keeper.js';
import { resizePod } from '../resize/resize-pod.js';
import type { UntilRoom } from './until-room.js';
import { lastStatus, sinceSeen, storeStatus, type StatusView, type StoreStatusPorts } from './store-status.js';

export interface PodWorkPorts extends StoreStatusPorts, Omit<StartContainerPorts, 'state'> {
  readonly state: StoreStatusPorts['state'] & Pick<KubeletState, 'sources' | 'restarts' | 'pulls' | 'workers'>;
  readonly reader: RuntimeReader;
  /** The pods of the last successful relist, without a call. Default: none. */
  readonly listedPods?: () => readonly RuntimePod[];
  readonly podDirectories: Pick<PodDirectories, 'make'>;
  readonly podCgroups: PodCgroups;
  /** What resized pods were given, on the disk. Default: it is not kept. */
  readonly amountKeeper?: Pick<AmountKeeper, 'save$'>;
  /** Waits for the pods that are stopped to make room for this one. Default: no pod waits. */
  readonly untilRoom?: UntilRoom;
  readonly probes: PodProbes;
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
    viewOf(ports, run, run.status).pipe(map((status) => asAllocated(ports, { ...run, status })));
  const seenAtEnd = (run: PodRun): Observable<PodRun> =>
    viewAtEnd(ports, run, run.status).pipe(map((status) => asAllocated(ports, { ...run, status })));
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

/**
 * The run of the pod with the amounts that it has. An earlier agent may have created its containers with others than those that the source
 * asks for since: unless the pod was given these, it has those of its containers.
 */
const asAllocated = ({ state }: PodWorkPorts, run: PodRun): PodRun => {
  const allocation = state.value.resizes.allocated.get(run.uid);
  if (allocation) return { ...run, pod: withAllocated(run.pod, allocatedIn(allocation)) };
  const pod = withAllocated(run.pod, allocatedOfContainers(run.status.containers));
  if (pod === run.pod) return run;
  state.apply({ kind: 'allocation-found', uid: run.uid, amounts: amountsOfPod(pod) });
  return { ...run, pod };
};

/** The same view for the stop of a pod, which goes on without marks that cannot be read. Errors: none. */
const viewAtEnd = (ports: PodWorkPorts, run: PodRun, listed: RuntimePodStatus): Observable<RuntimePodStatus> =>
  viewOf(ports, run, listed).pipe(catchError(() => of(withShownEnds(listed, lastStatus(ports, run)))));

const syncPod = (ports: PodWorkPorts, run: PodRun, signal: AbortSignal): Observable<SyncResult> =>
  concat(findDueHooks({ pod: run.pod, ports }, run.status, ports.state), syncKnownPod(ports, run, signal));

const syncKnownPod = (ports: PodWorkPorts, run: PodRun, signal: AbortSignal): Observable<SyncResult> =>
  defer(() => {
    let hasNewSandbox = false;
    const amountKeeper = ports.amountKeeper ?? NOT_KEPT;
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
        const { resizes } = ports.state.value;
        const inputs = {
          probeResults: ports.probes.results(),
          restartAll: saysRestartAll(status),
          last: status,
          ...(resizes.allocated.has(run.uid) && { actuated: actuatedIn(resizes, run.uid) }),
        };
        return syncContainers(inCgroup, run.status, ports, inputs, resizePod({ ...ports, amountKeeper }));
      });
      return concat(makeDirectories(inCgroup, ports), mountVolumes(inCgroup), containers$);
    });
    const room$ = (ports.untilRoom?.(run.pod, store) ?? EMPTY).pipe(errorOnAbort(signal, () => new SyncCancelled()));
    const cgroup$ = ensurePodCgroup(context, ports.podCgroups, run.status);
    // Before anything is done with it: after a power loss the pod has what it has now, not what it has had before.
    const kept$ = defer(() => (ports.state.value.resizes.allocated.has(run.uid) ? amountKeeper.save$ : EMPTY));
    return concat(namesakes$, room$, throwIfCancelled(context), kept$, cgroup$).pipe(
      // The view of this sync is out of date after a kill; the next sync has a newer one.
      concatMap((cgroup) => (cgroup === 'killed' ? of(ONLY_KILLED) : sync$)),
      tap({
        next: (sync) => {
          for (const { container, problem } of sync.starts) {
            const failure = problem && { reason: problem.reason, message: problem.message };
            ports.state.apply({ kind: 'start-ended', uid: run.uid, container, failure });
          }
          // The status shows what the instances have, and whether that is all, at once.
          if (sync.endedHooks || sync.resized) store();
          if (sync.acted) ports.relistSoon(run.uid);
        },
        // A failed sync may have changed the pod.
        error: () => ports.relistSoon(run.uid),
      }),
      concatMap((sync): Observable<SyncResult> => {
        const problems = sync.starts.flatMap(({ problem }) => (problem ? [problem] : []));
        if (sync.resizeError !== undefined) {
          return throwError(() => new PodSyncError([...problems, new Error(sync.resizeError)]));
        }
        // The event of a removed container wakes no worker. Source: pkg/kubelet/kubelet.go SyncPod
        if (problems.length === 0) return of({ isTerminal: false, ...(sync.hasReset && { isUnfinished: true }) });
        // The status shows the waiting reason at once, not only with the next change of the runtime.
        store();
        if (!problems.every(isStartWait)) return throwError(() => new PodSyncError(problems));
        return of({ isTerminal: false, wait: { message: problemsText(problems), waitsUntil: earliestEnd(problems) } });
      }),
    );
  });

const ONLY_KILLED: ContainersSync = { starts: [], acted: true, endedHooks: false, hasReset: false };
const NOT_KEPT: Pick<AmountKeeper, 'save$'> = { save$: EMPTY };

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
