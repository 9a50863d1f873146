import {
  catchError,
  concat,
  concatMap,
  defaultIfEmpty,
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
import { environment } from '../../model/cri/env.js';
import { type EnvValue, textValue } from '../../model/cri/env-value.js';
import { containerConfig } from '../../model/cri/container-config.js';
import { containerLogDirectory, podLogDirectory, restartCountFromLogs } from '../../model/cri/log-paths.js';
import { errorText } from '../../model/cri/cri-error.js';
import { crashLoopKey } from '../../model/pod-actions/crash-loop-back-off.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import { type Container, type ContainerKind, type EphemeralContainer, formatPod } from '../../model/pod/pod.js';
import { createFailureText } from '../../model/volumes/image-volumes.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { isStartWait, type StartWait } from '../../model/pod-actions/start-wait.js';
import { ContainerSyncError, SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import type { MetricContainerType } from '../ports/metrics.js';
import { agentMounts } from './agent-mounts.js';
import { markStart } from './begun-starts.js';
import { crashLoopWait } from './crash-loop-wait.js';
import { beginHook, endHook } from './due-hooks.js';
import { ensureImage, type PresentImage } from '../images/ensure-image.js';
import type { Sandbox } from './ensure-sandbox.js';
import { environmentObjects } from './environment-objects.js';
import { killContainer } from './kill-container.js';
import { linkLog } from './link-log.js';
import { emitEvent, journaled, throwIfCancelled, type PodSyncContext } from './pod-sync-context.js';
import { removeUnstarted } from './remove-container.js';
import { runHook } from './run-hook.js';
import { volumeImages } from './volume-images.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import { allNamed } from '../../model/values/indexed-lists.js';

/** The ports of a start beside the ports of the sync. */
export interface StartContainerPorts {
  readonly node: NodeFacts;
  readonly state: Pick<KubeletState, 'restarts' | 'pulls' | 'dueHooks' | 'apply'>;
  /** Milliseconds; `crashLoopBackOff.maxContainerRestartPeriod`. */
  readonly maxRestartBackOffMs: number;
}

interface ContainerStart {
  readonly kind: ContainerKind;
  readonly container: Container | EphemeralContainer;
}

/**
 * Starts one container: gets its image, creates it, starts it, and runs its postStart hook. Completes when the container runs.
 * Emits the wait and completes at once while the container, or the pull of its image, has to wait.
 *
 * Errors: `ContainerSyncError` by the reason that the status shows.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go startContainer, kuberuntime_manager.go doBackOff
 */
export const startContainer = (
  context: PodSyncContext,
  start: ContainerStart,
  sandbox: Sandbox,
  status: RuntimePodStatus,
  ports: StartContainerPorts,
): Observable<StartWait> =>
  defer(() => {
    const { container, kind } = start;
    const { metrics } = context.ports;
    const ensure = (
      image: Pick<Container, 'name' | 'image' | 'imagePullPolicy'>,
    ): Observable<PresentImage | StartWait> =>
      ensureImage(context, image, ports.state.pulls, sandbox).pipe(
        tap({
          next: (found) => {
            if (isStartWait(found)) failed(context, container.name, found.reason);
          },
          error: (error: unknown) => {
            if (error instanceof SyncCancelled) return;
            failed(context, container.name, error instanceof ContainerSyncError ? error.reason : errorText(error));
          },
        }),
      );
    // In this order, so that a container without the images of its volumes does not pull its own.
    const start$ = volumeImages(context.pod, container, ensure).pipe(
      concatMap((images) =>
        isStartWait(images)
          ? of(images)
          : ensure(container).pipe(map((image) => (isStartWait(image) ? image : { image, images }))),
      ),
      concatMap((found) => {
        if (isStartWait(found)) {
          metrics.containerStarted(METRIC_TYPES[kind], found.reason);
          return of(found);
        }
        const started$ = concat(
          throwIfCancelled(context),
          createAndStart(context, start, found, sandbox, status, ports),
        );
        return started$.pipe(tap({ complete: () => metrics.containerStarted(METRIC_TYPES[kind]) }));
      }),
      tap({
        error: (error: unknown) => {
          if (error instanceof ContainerSyncError) metrics.containerStarted(METRIC_TYPES[kind], error.reason);
        },
      }),
    );
    return crashLoopWait(context, container, status, ports).pipe(
      defaultIfEmpty(undefined),
      concatMap((wait) => (wait ? of(wait) : start$)),
    );
  });

/** `container_type` of the kubelet's metrics. */
export const METRIC_TYPES: Readonly<Record<ContainerKind, MetricContainerType>> = {
  init: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
};

const createAndStart = (
  context: PodSyncContext,
  { container }: ContainerStart,
  { image, images }: { readonly image: PresentImage; readonly images: ReadonlyMap<string, string> },
  sandbox: Sandbox,
  status: RuntimePodStatus,
  { node, state }: StartContainerPorts,
): Observable<never> => {
  const { runtime, files, startQueue, volumes } = context.ports;
  const { pod, signal } = context;
  const { name } = container;
  const fail =
    (reason: string, containerId?: string, textOf: (error: unknown) => string = errorText) =>
    (error: unknown) => {
      const failure =
        error instanceof SyncCancelled ? error : new ContainerSyncError(name, reason, textOf(error), { cause: error });
      if (failure instanceof ContainerSyncError) failed(context, name, failure.message, containerId);
      return throwError(() => failure);
    };
  const logDirectory = containerLogDirectory(node.podLogsDirectory, pod, name);

  const config$ = restartCount(context, name, status, logDirectory).pipe(
    concatMap((attempt) =>
      environmentObjects(context, container).pipe(
        concatMap((environment) =>
          volumes.envFiles(pod, container).pipe(map((envFiles) => ({ ...environment, envFiles }))),
        ),
        concatMap((environment) =>
          agentMounts(context, container, sandbox.ips).pipe(map((mounts) => ({ ...environment, agentMounts: mounts }))),
        ),
        concatMap((found) => {
          const crashes = state.restarts.get(crashLoopKey(pod, container))?.crashes ?? 0;
          const input = { ...found, pod, container, attempt, crashes, image, podIps: sandbox.ips, node, status };
          const env = environment(input);
          logBytes(context, name, env);
          return volumes
            .mountsOf(pod, container, {
              variable: (name) => textValue(name, env.get(name)),
              ...{ images, agentMounts: found.agentMounts, signal },
            })
            .pipe(map((mounts) => containerConfig({ ...input, mounts })));
        }),
      ),
    ),
    concatMap((config) => concat(files.makeDirectory(logDirectory, 0o755), of(config))),
    catchError(fail('CreateContainerConfigError')),
  );
  // It never started: its successor has the same attempt.
  const cleared$ = removeUnstarted(context, status, name).pipe(catchError(fail('CreateContainerError')));
  const create$ = concat(cleared$, config$).pipe(
    concatMap((config) => {
      const request = { podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config };
      return journaled(context, 'CreateContainer', { container: name }, runtime.createContainer(request)).pipe(
        startQueue('CreateContainer', signal),
        map(({ containerId }) => ({ containerId, logPath: config.logPath })),
        catchError(
          fail('CreateContainerError', undefined, (error) => createFailureText(errorText(error), config.mounts ?? [])),
        ),
      );
    }),
    tap(() => emitEvent(context, 'Normal', 'Created', 'Container created', name)),
  );
  return create$.pipe(
    concatMap(({ containerId, logPath }) => {
      const log = `${podLogDirectory(node.podLogsDirectory, pod)}/${logPath}`;
      const target = { target: containerId, container: name };
      const start$ = journaled(context, 'StartContainer', target, runtime.startContainer({ containerId })).pipe(
        // A created container is started: a sync is not cancelled between the two.
        startQueue('StartContainer'),
        ignoreElements(),
        measureStart(context, { name, containerId }, state),
        catchError(fail('RunContainerError', containerId)),
        tap({ complete: () => emitEvent(context, 'Normal', 'Started', 'Container started', name) }),
      );
      return concat(
        markStart(context, containerId).pipe(catchError(fail('RunContainerError', containerId))),
        container.lifecycle?.postStart ? beginHook(context, containerId, state) : EMPTY,
        start$,
        linkLog(context, { id: containerId, name }, log),
        postStart(context, container, containerId, sandbox.ips, state),
      );
    }),
  );
};

/** Keeps the time of the answer to the call that starts an instance: the clock of the runtime may be wrong. */
const measureStart = (
  { pod, ports: { scheduler } }: PodSyncContext,
  { name, containerId }: { readonly name: string; readonly containerId: string },
  { apply }: Pick<KubeletState, 'apply'>,
): MonoTypeOperatorFunction<never> => {
  const { uid } = pod.metadata;
  return (start$) =>
    defer(() => {
      apply({ kind: 'instance-started', uid, container: name, start: { containerId } });
      const answered = (): void => {
        const start = { containerId, answeredAt: scheduler.now() };
        apply({ kind: 'instance-started', uid, container: name, start });
      };
      return start$.pipe(tap({ complete: answered }));
    });
};

/** Logs variables that are not text: their bytes are right in the call, and only some runtimes keep them. */
const logBytes = (
  { pod, ports: { log } }: PodSyncContext,
  container: string,
  env: ReadonlyMap<string, EnvValue>,
): void => {
  const variables = [...env].flatMap(([name, value]) => (typeof value === 'string' ? [] : [name]));
  if (variables.length === 0) return;
  log.info(
    { pod: formatPod(pod), container, variables },
    'variables are not UTF-8 text: a runtime that passes them on as JSON, as containerd does to runc, replaces these bytes',
  );
};

/**
 * Runs the postStart hook, and removes its mark once it has succeeded. Kills a container whose hook fails, since it does not match its spec. The sync waits for the hook, but
 * ends at once when the pod has to stop.
 */
export const postStart = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  containerId: string,
  podIps: readonly string[],
  state: Pick<KubeletState, 'apply'>,
): Observable<never> => {
  const hook = container.lifecycle?.postStart;
  if (!hook) return EMPTY;
  const { name } = container;
  return concat(runHook(context, { hook, containerId, container, podIps }), endHook(context, containerId, state)).pipe(
    errorOnAbort(context.signal, () => new SyncCancelled()),
    catchError((error: unknown) => {
      if (error instanceof SyncCancelled) throw error;
      emitEvent(context, 'Warning', 'FailedPostStartHook', 'PostStartHook failed', name);
      const kill = { id: containerId, name, container, podIps, message: 'FailedPostStartHook', hasFailed: true };
      return concat(
        // The problem is the hook, also if the kill fails. It stays due, so that the container is not ready while the view of the
        // runtime is from before the kill; a sync that sees its end removes the mark.
        killContainer(context, kill).pipe(catchError(() => EMPTY)),
        throwError(() => new ContainerSyncError(name, 'PostStartHookError', errorText(error), { cause: error })),
      );
    }),
  );
};

/** Emits one more than the restart count of the newest started instance; without one, one more than that of its log files. */
const restartCount = (
  { ports }: PodSyncContext,
  name: string,
  status: RuntimePodStatus,
  logDirectory: string,
): Observable<number> => {
  const newest = allNamed(status.containers, name).find(({ state }) => state !== 'created');
  return newest ? of(newest.restartCount + 1) : ports.files.listDirectory(logDirectory).pipe(map(restartCountFromLogs));
};

/**
 * Records the event beside a waiting reason. Runtimes often name the container by its id; with the id every attempt would be an
 * event of its own.
 */
const failed = (context: PodSyncContext, name: string, text: string, containerId = ''): void => {
  const named = containerId === '' ? text : text.replaceAll(containerId, name);
  emitEvent(context, 'Warning', 'Failed', `Error: ${named}`, name);
};
