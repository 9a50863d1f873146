import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  from,
  ignoreElements,
  map,
  type Observable,
  of,
  takeWhile,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { computePodActions } from '../../model/compute-pod-actions.js';
import { errorText } from '../../model/cri-error.js';
import type { JournalId } from '../../model/journal.js';
import type { PodActions, ProbeResults } from '../../model/pod-actions.js';
import {
  type Container,
  type ContainerKind,
  containersOf,
  type EphemeralContainer,
  isSidecar,
} from '../../model/pod.js';
import { isRestartingAll } from '../../model/restart-all.js';
import type { RuntimePodStatus } from '../../model/runtime-pod.js';
import { ContainerSyncError, PodSyncError, SyncCancelled } from '../../model/sync-error.js';
import { ensureSandbox, type Sandbox } from './ensure-sandbox.js';
import { killContainer, killFailure } from './kill-container.js';
import { killPod } from './kill-pod.js';
import { because, emitEvent, letGo, note, type PodSyncContext } from './pod-sync-context.js';
import { pruneInitContainers, removeContainer } from './remove-container.js';
import { startContainer, type StartContainerPorts } from './start-container.js';

/** How the start of one container ended. */
export interface StartResult {
  readonly container: string;
  readonly error?: ContainerSyncError;
}

export interface ContainersSync {
  /** Every start that was tried, in order. */
  readonly starts: readonly StartResult[];
  /** Something was killed, removed, created or started. */
  readonly acted: boolean;
  /** Containers were removed to be made again, which is for the next pass to do. */
  readonly hasReset: boolean;
}

/** One container to start, as `computePodActions` ordered it. */
interface Step {
  readonly kind: ContainerKind;
  readonly container: Container | EphemeralContainer;
}

/**
 * Brings the containers of a pod to what its spec asks for, one step after the other, and emits once what was done.
 * A start that fails is a result; whatever stands before the starts and fails ends the pass.
 *
 * Errors: `PodSyncError`; `SyncCancelled` between two steps, once the signal has fired.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod
 */
export const syncContainers = (
  context: PodSyncContext,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
  probeResults?: ProbeResults,
): Observable<ContainersSync> =>
  defer(() => {
    const actions = computePodActions({
      pod: context.pod,
      status,
      probeResults,
      restartAll: isRestartingAll(context.pod, status),
    });
    const acts = hasWork(actions);
    const decided = acts ? because(context, noteActions(context, actions)) : context;
    return concat(
      makeWay(decided, actions, status),
      letGo(decided),
      defer(() => startAll(decided, actions, status, ports)),
    ).pipe(
      toArray(),
      map((starts) => ({ starts, acted: acts, hasReset: actions.containersToReset.length > 0 })),
    );
  });

const hasWork = (actions: PodActions): boolean =>
  actions.killPod ||
  actions.createSandbox ||
  [
    actions.initContainersToStart,
    actions.containersToStart,
    actions.ephemeralContainersToStart,
    actions.containersToKill,
    actions.containersToReset,
  ].some((list) => list.length > 0);

const noteActions = (context: PodSyncContext, { reasons }: PodActions): JournalId =>
  note(context, { kind: 'actions', actions: reasons });

/** Kills and removes what stands in the way of the starts. Its failure ends the pass. */
const makeWay = (context: PodSyncContext, actions: PodActions, status: RuntimePodStatus): Observable<never> => {
  if (actions.killPod) {
    if (actions.createSandbox && actions.sandboxId !== '') {
      emitEvent(context, 'Normal', 'SandboxChanged', 'Pod sandbox changed, it will be killed and re-created.');
    }
    return concat(
      killPod(context, status),
      actions.createSandbox ? pruneInitContainers(context, status, 'all') : EMPTY,
    );
  }
  const kills$ = from(actions.containersToKill).pipe(
    concatMap((kill) =>
      killContainer(context, { ...kill, podIps: status.ips }).pipe(
        catchError((error: unknown) => failedKill(kill.name, error)),
      ),
    ),
  );
  const resets$ = from(actions.containersToReset).pipe(
    concatMap((reset) =>
      concat(
        reset.kill ? killContainer(context, { ...reset, graceSeconds: 0 }) : EMPTY,
        removeContainer(context, reset, { keepLogs: true }),
      ).pipe(catchError((error: unknown) => failedKill(reset.name, error))),
    ),
  );
  return concat(kills$, resets$, pruneInitContainers(context, status, 'all-but-newest'));
};

const failedKill = (name: string, error: unknown): Observable<never> =>
  throwError(
    () =>
      new PodSyncError([
        new ContainerSyncError(name, 'KillContainerError', killFailure(name, error), { cause: error }),
      ]),
  );

const startAll = (
  context: PodSyncContext,
  actions: PodActions,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
): Observable<StartResult> => {
  const steps = stepsOf(context, actions);
  if (!actions.createSandbox && steps.length === 0) return EMPTY;
  return ensureSandbox(context, actions, status, ports).pipe(
    tap(() => {
      if (actions.createSandbox) context.sandboxReady?.();
    }),
    concatMap((sandbox) =>
      from(steps).pipe(
        concatMap((step) => concat(letGo(context), startStep(context, step, sandbox, status, ports))),
        // A regular init container that does not start holds back everything after it.
        takeWhile(({ result, step }) => !(result.error && step.kind === 'init' && !isSidecar(step.container)), true),
        map(({ result }) => result),
      ),
    ),
  );
};

/** Ephemeral containers first, then init containers, then the regular ones. */
const stepsOf = ({ pod }: PodSyncContext, actions: PodActions): readonly Step[] => {
  const all = containersOf(pod);
  const pick = (kind: ContainerKind, names: readonly string[]): readonly Step[] =>
    all.filter((entry) => entry.kind === kind && names.includes(entry.container.name));
  return [
    ...pick('ephemeral', actions.ephemeralContainersToStart),
    ...pick('init', actions.initContainersToStart),
    ...pick('regular', actions.containersToStart),
  ];
};

const startStep = (
  context: PodSyncContext,
  step: Step,
  sandbox: Sandbox,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
): Observable<{ readonly step: Step; readonly result: StartResult }> => {
  const { name } = step.container;
  return concat(
    startContainer(context, step, sandbox, status, ports).pipe(ignoreElements()),
    of<StartResult>({ container: name }),
  ).pipe(
    catchError((error: unknown) => {
      if (error instanceof SyncCancelled) throw error;
      const known = error instanceof ContainerSyncError;
      const failure = known
        ? error
        : new ContainerSyncError(name, 'RunContainerError', errorText(error), { cause: error });
      return of<StartResult>({ container: name, error: failure });
    }),
    map((result) => ({ step, result })),
  );
};

/** The failures of a pass as one error; none when every start went well. */
export const errorOf = ({ starts }: ContainersSync): PodSyncError | undefined => {
  const errors = starts.flatMap(({ error }) => (error ? [error] : []));
  return errors.length > 0 ? new PodSyncError(errors) : undefined;
};
