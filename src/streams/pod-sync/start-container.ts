import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  ignoreElements,
  map,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import { decideBackOff, crashLoopKey } from '../../model/crash-loop-back-off.js';
import type { BackOffEntry } from '../../model/back-off.js';
import { containerConfig } from '../../model/cri/container-config.js';
import { containerLogDirectory, podLogDirectory, restartCountFromLogs } from '../../model/cri/log-paths.js';
import { errorText } from '../../model/cri-error.js';
import type { NodeFacts } from '../../model/node-facts.js';
import type { Container, ContainerKind, EphemeralContainer } from '../../model/pod.js';
import type { RuntimePodStatus } from '../../model/runtime-pod.js';
import { ContainerSyncError, SyncCancelled } from '../../model/sync-error.js';
import { errorOnAbort } from '../operators/error-on-abort.js';
import type { MetricContainerType } from '../ports.js';
import { agentMounts } from './agent-mounts.js';
import { ensureImage, type ImagePulls, type PresentImage } from './ensure-image.js';
import type { Sandbox } from './ensure-sandbox.js';
import { environmentObjects } from './environment-objects.js';
import { killContainer } from './kill-container.js';
import { linkLog } from './link-log.js';
import { emitEvent, journaled, letGo, note, type PodSyncContext } from './pod-sync-context.js';
import { removeUnstarted } from './remove-container.js';
import { runHook } from './run-hook.js';

/** What starting a container needs besides the ports of the pass. */
export interface StartContainerPorts {
  readonly node: NodeFacts;
  /** Restart back-offs that this agent has seen, by `crashLoopKey`. */
  readonly restarts: Map<string, BackOffEntry>;
  readonly pulls: ImagePulls;
  /** Milliseconds; `crashLoopBackOff.maxContainerRestartPeriod`. */
  readonly maxRestartBackOffMs: number;
}

interface ContainerStart {
  readonly kind: ContainerKind;
  readonly container: Container | EphemeralContainer;
}

/**
 * Starts one container: waits for nothing, but refuses while it is backing off; gets its image; creates, starts, and runs
 * its postStart hook. Completes when the container runs.
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
): Observable<never> => {
  const { container, kind } = start;
  const { metrics } = context.ports;
  return concat(
    backOff(context, container, status, ports),
    defer(() => ensureImage(context, container, ports.pulls, sandbox)).pipe(
      tap({ error: (error: unknown) => failed(context, container.name, error, 'reason') }),
      concatMap((image) => concat(letGo(context), createAndStart(context, start, image, sandbox, status, ports))),
    ),
  ).pipe(
    tap({
      complete: () => metrics.containerStarted(METRIC_TYPES[kind]),
      error: (error: unknown) => {
        if (error instanceof ContainerSyncError && error.reason !== 'CrashLoopBackOff') {
          metrics.containerStarted(METRIC_TYPES[kind], error.reason);
        }
      },
    }),
  );
};

/** `container_type` of the kubelet's metrics. */
export const METRIC_TYPES: Readonly<Record<ContainerKind, MetricContainerType>> = {
  init: 'init_container',
  regular: 'container',
  ephemeral: 'ephemeral_container',
};

/** Completes when the container may start now. */
const backOff = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  status: RuntimePodStatus,
  { restarts, maxRestartBackOffMs }: StartContainerPorts,
): Observable<never> =>
  defer(() => {
    const key = crashLoopKey(context.pod, container);
    const started = status.containers.filter(({ name, state }) => name === container.name && state !== 'created');
    const [newestExited, ...earlierExited] = started.filter(({ state }) => state === 'exited');
    const verdict = decideBackOff({
      pod: context.pod,
      container,
      entry: restarts.get(key),
      newestExited,
      earlierExited,
      newest: started[0],
      now: context.ports.wallClock(),
      maxMs: maxRestartBackOffMs,
    });
    if (verdict.entry) restarts.set(key, verdict.entry);
    if (!verdict.blocked) return EMPTY;
    const { message, eventMessage, delayMs, until, step, steps, resetAfterMs, exitCode } = verdict;
    const { name } = container;
    note(context, {
      kind: 'back-off',
      subject: 'restart',
      container: name,
      exitCode,
      delayMs,
      until,
      step,
      steps,
      resetAfterMs,
    });
    emitEvent(context, 'Warning', 'BackOff', eventMessage, name);
    return throwError(() => new ContainerSyncError(name, 'CrashLoopBackOff', message, { backOffUntil: until }));
  });

const createAndStart = (
  context: PodSyncContext,
  { container }: ContainerStart,
  image: PresentImage,
  sandbox: Sandbox,
  status: RuntimePodStatus,
  { node }: StartContainerPorts,
): Observable<never> => {
  const { runtime, files, startQueue } = context.ports;
  const { pod, signal } = context;
  const { name } = container;
  const fail = (reason: string, containerId?: string) => (error: unknown) => {
    const failure =
      error instanceof SyncCancelled ? error : new ContainerSyncError(name, reason, errorText(error), { cause: error });
    failed(context, name, failure, 'message', containerId);
    return throwError(() => failure);
  };
  const logDirectory = containerLogDirectory(node.podLogsDirectory, pod, name);

  const config$ = restartCount(context, name, status, logDirectory).pipe(
    concatMap((attempt) =>
      environmentObjects(context, container).pipe(
        concatMap((environment) =>
          agentMounts(context, container, sandbox.ips).pipe(map((mounts) => ({ ...environment, agentMounts: mounts }))),
        ),
        map((found) =>
          containerConfig({ ...found, pod, container, attempt, image, podIps: sandbox.ips, node, status }),
        ),
      ),
    ),
    concatMap((config) => concat(files.makeDirectory(logDirectory, 0o755), of(config))),
    catchError(fail('CreateContainerConfigError')),
  );
  // It was never an instance that counts: its successor is the same attempt.
  const cleared$ = removeUnstarted(context, status, name).pipe(catchError(fail('CreateContainerError')));
  const create$ = concat(cleared$, config$).pipe(
    concatMap((config) => {
      const request = { podSandboxId: sandbox.id, config, sandboxConfig: sandbox.config };
      return journaled(context, 'CreateContainer', { container: name }, runtime.createContainer(request)).pipe(
        startQueue('CreateContainer', signal),
        map(({ containerId }) => ({ containerId, logPath: config.logPath })),
        catchError(fail('CreateContainerError')),
      );
    }),
    tap(() => emitEvent(context, 'Normal', 'Created', 'Container created', name)),
  );
  return create$.pipe(
    concatMap(({ containerId, logPath }) => {
      const log = `${podLogDirectory(node.podLogsDirectory, pod)}/${logPath}`;
      const target = { target: containerId, container: name };
      const start$ = journaled(context, 'StartContainer', target, runtime.startContainer({ containerId })).pipe(
        // A container that was made is started: nobody lets go of a pod between the two.
        startQueue('StartContainer'),
        ignoreElements(),
        catchError(fail('RunContainerError', containerId)),
        tap({ complete: () => emitEvent(context, 'Normal', 'Started', 'Container started', name) }),
      );
      return concat(
        start$,
        linkLog(context, { id: containerId, name }, log),
        postStart(context, container, containerId, sandbox.ips),
      );
    }),
  );
};

/**
 * A container whose hook fails is killed: it never was what its spec asks for. The pass waits for the hook, but lets go at once
 * when the pod is to be stopped.
 */
const postStart = (
  context: PodSyncContext,
  container: Container | EphemeralContainer,
  containerId: string,
  podIps: readonly string[],
): Observable<never> => {
  const hook = container.lifecycle?.postStart;
  if (!hook) return EMPTY;
  const { name } = container;
  return runHook(context, { hook, containerId, container, podIps }).pipe(
    errorOnAbort(context.signal, () => new SyncCancelled()),
    catchError((error: unknown) => {
      if (error instanceof SyncCancelled) throw error;
      emitEvent(context, 'Warning', 'FailedPostStartHook', 'PostStartHook failed', name);
      const kill = { id: containerId, name, container, podIps, message: 'FailedPostStartHook' };
      return concat(
        // Whether or not that works, the hook is what went wrong.
        killContainer(context, kill).pipe(catchError(() => EMPTY)),
        throwError(() => new ContainerSyncError(name, 'PostStartHookError', errorText(error), { cause: error })),
      );
    }),
  );
};

/** One more than the newest instance that was started has; without any, one more than its log files tell of. */
const restartCount = (
  { ports }: PodSyncContext,
  name: string,
  status: RuntimePodStatus,
  logDirectory: string,
): Observable<number> => {
  const newest = status.containers.find((instance) => instance.name === name && instance.state !== 'created');
  return newest ? of(newest.restartCount + 1) : ports.files.listDirectory(logDirectory).pipe(map(restartCountFromLogs));
};

/**
 * The event that stands beside a waiting reason. Runtimes like to name the container by its id, which would make every attempt an
 * event of its own.
 */
const failed = (
  context: PodSyncContext,
  name: string,
  error: unknown,
  says: 'reason' | 'message',
  containerId = '',
): void => {
  if (error instanceof SyncCancelled) return;
  const text = says === 'reason' && error instanceof ContainerSyncError ? error.reason : errorText(error);
  const named = containerId === '' ? text : text.replaceAll(containerId, name);
  emitEvent(context, 'Warning', 'Failed', `Error: ${named}`, name);
};
