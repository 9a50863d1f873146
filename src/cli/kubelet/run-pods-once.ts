import { concat, defer, type Observable, tap } from 'rxjs';
import type { KubeletOptions, KubeletPorts } from '../../kubelet-options.js';
import { admitPod } from '../../model/admission/admit-pod.js';
import type { Pod } from '../../model/pod/pod.js';
import { CRASH_LOOP_MAX_MS } from '../../model/pod-actions/crash-loop-back-off.js';
import { kubeletCgroups } from '../../streams/cgroups/kubelet-cgroups.js';
import { podConfig } from '../../streams/config/pod-config.js';
import { noProbes } from '../../streams/probes/no-probes.js';
import { podDirectories } from '../../streams/upkeep/pod-directories.js';
import { podVolumes } from '../../streams/volumes/pod-volumes.js';
import { alongside } from '../../streams/operators/alongside.js';
import { podWork } from '../../streams/pod-workers/pod-work.js';
import { ledgerFor } from '../../streams/images/pull-ledger.js';
import { pullQueue } from '../../streams/images/pull-queue.js';
import { startQueue } from '../../streams/pod-sync/start-queue.js';
import { recordNodeEventOnce } from '../../streams/pod-sync/record-node-event.js';
import { manifestReferences } from '../../streams/references/manifest-references.js';
import { bothPullSecrets } from '../../streams/references/pull-secrets.js';
import { runOnce, type RunOnceResult } from '../../streams/run-once/run-once.js';
import { runtimeHealth } from '../../streams/runtime-health/runtime-health.js';
import { runtimeReader } from '../../streams/pleg/runtime-reader.js';
import { terminationMessages } from '../../streams/pleg/termination-messages.js';
import { type KubeletState, kubeletState } from '../../streams/sync-loop/kubelet-state.js';
import { handleProblem } from '../../streams/sync-loop/handle-problem.js';

/**
 * Starts the pods of the first update without the loop, emits the result of each, and leaves them running.
 *
 * Errors: `RunOnceError` if there are no pods, or some did not start.
 */
export const runPodsOnce = (
  ports: KubeletPorts,
  {
    sources,
    maxRestartBackOffMs = CRASH_LOOP_MAX_MS,
    imagePulls = {},
    imageVerification,
    admit = admitPod(() => ports.node),
    runtimeClasses,
  }: KubeletOptions,
  state: KubeletState = kubeletState(),
): Observable<RunOnceResult> =>
  defer(() => {
    const { runtime, scheduler, record, recordEvent } = ports;
    const manifests = manifestReferences(ports.log);
    const tell = handleProblem(ports);
    let pods: readonly Pod[] = [];
    const cgroups = kubeletCgroups({ ...ports, activePods: () => pods });
    const config$ = podConfig(sources, { scheduler }).pipe(
      tap((update) => {
        if (update.kind === 'problem') tell(update);
        else if (update.kind === 'objects') manifests.setObjects(update.source, update.objects);
        else pods = update.pods;
      }),
    );
    const reader = runtimeReader(runtime, scheduler, terminationMessages(ports.podFiles));
    const health = runtimeHealth({ ...ports, state });
    const volumes = podVolumes({
      ...ports,
      state,
      podReferences: manifests,
      runtimeClasses,
      runtimeHandlers: () => health.report().handlers,
    });
    const work = podWork({
      ...ports,
      volumes,
      reader,
      state,
      maxRestartBackOffMs,
      podCgroups: cgroups.podCgroups,
      podDirectories: podDirectories({
        ...ports,
        removeVolumes: volumes.removeLeftovers,
        rootDirectory: ports.node.rootDirectory,
      }),
      probes: noProbes,
      runtimeClasses,
      podReferences: manifests,
      pullSecrets: bothPullSecrets(manifests.pullSecrets, ports.pullSecrets),
      pullQueue: pullQueue(imagePulls, scheduler),
      pullLedger: ledgerFor(ports, imageVerification),
      startQueue: startQueue(scheduler),
      recordNodeEvent: recordNodeEventOnce(ports.recordEvent),
      networkProblem: () => undefined,
      relistSoon: () => undefined,
    });
    const once$ = runOnce({ config$, work, reader, admit, record, recordEvent, scheduler });
    return concat(cgroups.prepare$, health.read$, once$.pipe(alongside(volumes.run$)));
  });
