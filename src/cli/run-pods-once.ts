import { concat, defer, type Observable, tap } from 'rxjs';
import type { KubeletOptions, KubeletPorts } from '../kubelet.js';
import { admitPod } from '../model/admission/admit-pod.js';
import type { Pod } from '../model/pod.js';
import { PodStatusStore } from '../model/pod-status-store.js';
import { ReasonCache } from '../model/reason-cache.js';
import { kubeletCgroups } from '../streams/cgroups/kubelet-cgroups.js';
import { podConfig } from '../streams/pod-config.js';
import { noProbes } from '../streams/probes/no-probes.js';
import { podDirectories } from '../streams/pod-directories.js';
import { podWork } from '../streams/pod-work.js';
import { ledgerFor } from '../streams/pull-ledger.js';
import { pullQueue } from '../streams/pull-queue.js';
import { startQueue } from '../streams/start-queue.js';
import { runOnce, type RunOnceResult } from '../streams/run-once.js';
import { runtimeReader } from '../streams/runtime-reader.js';
import { terminationMessages } from '../streams/termination-messages.js';
import { handleProblem } from '../streams/sync-loop/handle-problem.js';

/**
 * A kubelet without its loop: brings up the pods of the first update, emits what became of each, and leaves them running.
 *
 * Errors: `RunOnceError` when there are none, or some could not be brought up.
 */
export const runPodsOnce = (
  ports: KubeletPorts,
  {
    sources,
    maxRestartBackOffMs = 300_000,
    imagePulls = {},
    imageVerification,
    admit = admitPod(() => ports.node),
    runtimeClasses,
  }: KubeletOptions,
  statuses: PodStatusStore = new PodStatusStore(),
): Observable<RunOnceResult> =>
  defer(() => {
    const { runtime, scheduler, record, recordEvent } = ports;
    const tell = handleProblem(ports);
    let pods: readonly Pod[] = [];
    const cgroups = kubeletCgroups({ ...ports, activePods: () => pods });
    const config$ = podConfig(sources, { scheduler }).pipe(
      tap((update) => {
        if (update.kind === 'problem') tell(update);
        else if (update.kind === 'pods') pods = update.pods;
      }),
    );
    const reader = runtimeReader(runtime, scheduler, terminationMessages(ports.podFiles));
    const work = podWork({
      ...ports,
      ...{ reader, statuses, maxRestartBackOffMs },
      podCgroups: cgroups.podCgroups,
      podDirectories: podDirectories({ ...ports, rootDirectory: ports.node.rootDirectory }),
      probes: noProbes,
      reasons: new ReasonCache(),
      runtimeClasses,
      restarts: new Map(),
      pulls: { backOff: new Map(), failures: new Map() },
      pullQueue: pullQueue(imagePulls, scheduler),
      pullLedger: ledgerFor(ports, imageVerification),
      startQueue: startQueue(scheduler),
      networkProblem: () => undefined,
      hasStarted: () => false,
      claim: () => () => undefined,
      relistSoon: () => undefined,
    });
    return concat(cgroups.prepare$, runOnce({ config$, work, reader, admit, record, recordEvent, scheduler }));
  });
