import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
  defer,
  EMPTY,
  from,
  map,
  type Observable,
  of,
  takeWhile,
  tap,
  throwError,
  toArray,
} from 'rxjs';
import { computePodActions, type PodActionsInput } from '../../model/pod-actions/compute-pod-actions.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { JournalId } from '../../model/journal/journal.js';
import { type DueHook, hooksToRepeat } from '../../model/pod-actions/due-hooks.js';
import { hasWork, type PodActions, type StartStep, startSteps } from '../../model/pod-actions/pod-actions.js';
import { isSidecar } from '../../model/pod/pod.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { StartWait } from '../../model/pod-actions/start-wait.js';
import { ContainerSyncError, PodSyncError, SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { isFailedPull } from '../images/ensure-image.js';
import { reportMissingSecrets } from '../images/pull-credentials.js';
import { rememberTrigger } from './crash-loop-wait.js';
import type { ResizePod, ResizeResult } from '../resize/resize-pod.js';
import { ensureSandbox, type Sandbox } from './ensure-sandbox.js';
import { killContainer, killFailure } from './kill-container.js';
import { killPod } from './kill-pod.js';
import { withCause, emitEvent, throwIfCancelled, journal, type PodSyncContext } from './pod-sync-context.js';
import { pruneInitContainers, removeContainer } from './remove-container.js';
import { postStart, startContainer, type StartContainerPorts } from './start-container.js';

/** The result of the start of one container. */
export interface StartResult {
  readonly container: string;
  /** The failure or the wait; absent once the container runs. */
  readonly problem?: ContainerSyncError | StartWait;
}

export interface ContainersSync {
  /** Every tried start, in order. */
  readonly starts: readonly StartResult[];
  /** The sync has killed, removed, created or started something. */
  readonly acted: boolean;
  /** postStart hooks of containers that ran before have ended: these may be ready now. */
  readonly endedHooks: boolean;
  /** Containers were removed; the next sync creates them again. */
  readonly hasReset: boolean;
  /** A resize has written something. */
  readonly resized?: boolean;
  /** Why the pod has not all amounts that it was given by a resize. */
  readonly resizeError?: string | undefined;
}

/**
 * Brings the containers of a pod to the state in its spec, one step after the other, and emits the results once. A start that fails
 * is a result; a failure before the starts ends the sync.
 *
 * Errors: `PodSyncError`; `SyncCancelled` between two steps, once the signal has fired.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go SyncPod
 */
export const syncContainers = (
  context: PodSyncContext,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
  { probeResults, restartAll, last, actuated }: Omit<PodActionsInput, 'pod' | 'status'> = {},
  resize: ResizePod = () => of({ acted: false }),
): Observable<ContainersSync> =>
  defer(() => {
    const actions = computePodActions({
      pod: context.pod,
      status,
      probeResults,
      restartAll,
      actuated,
      ...(last && { last }),
    });
    const acts = hasWork(actions);
    const { uid } = context.pod.metadata;
    const dueHooks = hooksToRepeat(context.pod, status.containers, actions, (id) => ports.state.dueHooks.has(uid, id));
    const decided = acts ? withCause(context, journalActions(context, actions)) : context;
    const isResized = actuated !== undefined && !actions.killPod;
    const resized$ = defer(() =>
      isResized ? resize(decided, actions.containersToUpdate, actions.sandboxId) : of({ acted: false }),
    );
    return concat(
      makeWay(decided, actions, status, ports),
      throwIfCancelled(decided),
      resized$.pipe(
        concatMap((resized: ResizeResult) =>
          concat(
            from(dueHooks).pipe(concatMap((due) => repeatHook(decided, due, status, ports))),
            defer(() => startAll(decided, actions, status, ports)),
          ).pipe(
            toArray(),
            map((starts) => ({ starts, resized })),
          ),
        ),
      ),
    ).pipe(
      concatMap(({ starts, resized }) => {
        const endedHooks = dueHooks.length > 0;
        const hasReset = actions.containersToReset.length > 0;
        const acted = acts || endedHooks || resized.acted;
        const result: ContainersSync = {
          ...{ starts, acted, endedHooks, hasReset },
          ...(resized.acted && { resized: true }),
          ...(resized.error !== undefined && { resizeError: resized.error }),
        };
        const hasFailedPull = starts.some(({ problem }) => isFailedPull(problem));
        return concat(hasFailedPull ? reportMissingSecrets(decided) : EMPTY, of(result));
      }),
    );
  });

/** Emits the failure of the hook, which has ended the container; nothing if the hook ends well. */
const repeatHook = (
  context: PodSyncContext,
  { id, container }: DueHook,
  { ips }: RuntimePodStatus,
  { state }: StartContainerPorts,
): Observable<StartResult> =>
  defer(() => {
    const { name } = container;
    const message = 'The postStart hook has not ended before, and runs again';
    emitEvent(context, 'Normal', 'RepeatedPostStartHook', message, name);
    return postStart(context, container, id, ips, state).pipe(
      catchError((error: unknown) => {
        if (!(error instanceof ContainerSyncError)) throw error;
        return of<StartResult>({ container: name, problem: error });
      }),
    );
  });

const journalActions = (context: PodSyncContext, { reasons }: PodActions): JournalId =>
  journal(context, { kind: 'actions', actions: reasons });

/** Kills and removes the containers that block the starts. A failure ends the sync. */
const makeWay = (
  context: PodSyncContext,
  actions: PodActions,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
): Observable<never> => {
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
        defer(() => {
          // The removal may succeed although its reply is lost.
          rememberTrigger(context, reset, status, ports);
          return EMPTY;
        }),
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
  const steps = startSteps(context.pod, actions);
  if (!actions.createSandbox && steps.length === 0) return EMPTY;
  return ensureSandbox(context, actions, status, ports).pipe(
    tap(() => {
      if (actions.createSandbox) context.sandboxReady?.();
    }),
    concatMap((sandbox) =>
      from(steps).pipe(
        concatMap((step) => concat(throwIfCancelled(context), startStep(context, step, sandbox, status, ports))),
        // A regular init container that does not start holds back everything after it.
        takeWhile(({ result, step }) => !(result.problem && step.kind === 'init' && !isSidecar(step.container)), true),
        map(({ result }) => result),
      ),
    ),
  );
};

const startStep = (
  context: PodSyncContext,
  step: StartStep,
  sandbox: Sandbox,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
): Observable<{ readonly step: StartStep; readonly result: StartResult }> => {
  const { name } = step.container;
  return startContainer(context, step, sandbox, status, ports).pipe(
    map((wait): StartResult => ({ container: name, problem: wait })),
    defaultIfEmpty<StartResult, StartResult>({ container: name }),
    catchError((error: unknown) => {
      if (error instanceof SyncCancelled) throw error;
      const known = error instanceof ContainerSyncError;
      const failure = known
        ? error
        : new ContainerSyncError(name, 'RunContainerError', errorText(error), { cause: error });
      return of<StartResult>({ container: name, problem: failure });
    }),
    map((result) => ({ step, result })),
  );
};
