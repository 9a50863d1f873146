import {
  BehaviorSubject,
  concat,
  defer,
  ignoreElements,
  merge,
  NEVER,
  of,
  type Observable,
  share,
  switchMap,
  take,
  takeUntil,
  tap,
} from 'rxjs';
import { assembleKubelet } from './assemble-kubelet.js';
import type { Kubelet, KubeletOptions, KubeletPorts, KubeletView } from './kubelet-options.js';
import type { KubeletParts } from './kubelet-parts.js';
import type { WorkerOutcome } from './streams/pod-workers/pod-workers.js';
import { endWhenStopped } from './streams/sync-loop/end-when-stopped.js';
import { syncLoop } from './streams/sync-loop/sync-loop.js';

/** A node agent. Subscribing to `outcome$` starts it; unsubscribing stops it and leaves the pods running. */
export const kubelet = (ports: KubeletPorts, options: KubeletOptions): Kubelet => {
  const life$ = new BehaviorSubject<Life>(NOT_STARTED);
  const view = (): KubeletView => life$.value.view;
  return {
    outcome$: defer(() => {
      const parts = assembleKubelet(ports, options);
      life$.next(parts);
      return runKubelet(parts);
    }),
    state$: life$.pipe(switchMap(({ state$ }) => state$)),
    pods$: life$.pipe(switchMap(({ pods$ }) => pods$)),
    runtimePod$: life$.pipe(switchMap(({ runtimePod$ }) => runtimePod$)),
    node$: life$.pipe(switchMap(({ node$ }) => node$)),
    health$: life$.pipe(switchMap(({ health$ }) => health$)),
    ready$: life$.pipe(
      switchMap(({ ready$ }) => ready$),
      take(1),
    ),
    pods: () => view().pods(),
    existsSince: (uid) => view().existsSince(uid),
    runningPods: () => view().runningPods(),
    node: () => view().node(),
    findRunning: (pod) => view().findRunning(pod),
    images: () => view().images(),
    health: () => view().health(),
  };
};

/** The daemon as the README draws it: inputs, one loop, a gate, one serial worker per pod, and what runs beside them. */
export const runKubelet = (parts: KubeletParts): Observable<WorkerOutcome> => {
  // The inputs of the loop.
  const stop$ = parts.stop$.pipe(share());
  const { pleg$, housekeeping$, ...others } = parts.swap({
    config$: parts.config$.pipe(takeUntil(stop$)),
    pleg$: parts.pleg$,
    probe$: parts.probe$,
    syncTick$: parts.syncTick$,
    housekeeping$: parts.housekeeping$,
    resize$: parts.resize$,
    kill$: parts.kill$,
    stop$: stop$.pipe(parts.stopInOrder),
  });
  const inputs = { ...others, pleg$: pleg$.pipe(share()), housekeeping$: housekeeping$.pipe(share()) };

  // One loop answers them with wakes, which a gate holds while the runtime is ill.
  const wake$ = syncLoop(inputs, parts.handlers, parts.scheduler).pipe(parts.holdWhileIll);

  // One serial worker per pod: groupBy(uid), and exhaustMapLatest for each. The outcome says when the pod is due again.
  const outcome$ = wake$.pipe(parts.podWorkers, tap(parts.requeue));

  // The volumes of the node, one serial worker each. The worker of a pod waits for those of its pod.
  const { volumes$ } = parts;

  // Beside them. No pod waits for any of these.
  const { runtimeHealth$, shutdown$, systemOom$, cluster } = parts;
  const upkeep = parts.upkeep(inputs);
  const eviction$ = parts.evict(upkeep.reclaim);
  const beside$ = merge(
    runtimeHealth$,
    shutdown$,
    eviction$,
    systemOom$,
    upkeep.containerGarbage$,
    upkeep.logs$,
    upkeep.imageGarbage$,
    upkeep.images$,
    upkeep.podDirectories$,
    upkeep.cgroups$,
    cluster.nodeView$,
    cluster.nodeStatus$,
    cluster.lease$,
    cluster.references$,
    cluster.podStatuses$,
    cluster.mirrorPods$,
    cluster.events$,
  ).pipe(ignoreElements());

  // The journal of the health first: the others may check it while they are subscribed.
  return concat(
    parts.prepare$,
    merge(parts.healthJournal$, volumes$, outcome$, beside$).pipe(endWhenStopped(stop$, parts.hasStopped)),
  );
};

type Life = Pick<KubeletParts, 'view' | 'state$' | 'pods$' | 'runtimePod$' | 'node$' | 'health$' | 'ready$'>;

const NOT_STARTED_YET = 'the agent has not started';

const NOT_STARTED: Life = {
  state$: NEVER,
  pods$: NEVER,
  runtimePod$: NEVER,
  node$: concat(of(undefined), NEVER),
  health$: concat(of(NOT_STARTED_YET), NEVER),
  ready$: NEVER,
  view: {
    pods: () => [],
    existsSince: () => undefined,
    runningPods: () => [],
    node: () => undefined,
    findRunning: () => undefined,
    images: () => [],
    health: () => NOT_STARTED_YET,
  },
};
