import { catchError, concat, concatMap, defer, map, type Observable, of, tap, throwError } from 'rxjs';
import type { DeepPartial, PodSandboxConfig } from '../../generated/runtime/v1/api.js';
import { MISSING_CLUSTER_DNS, podDns } from '../../model/cri/dns-config.js';
import { podLogDirectory } from '../../model/cri/log-paths.js';
import { sandboxIps } from '../../model/cri/runtime-pod-status.js';
import { sandboxConfig } from '../../model/cri/sandbox-config.js';
import { errorText } from '../../model/cri/cri-error.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import { formatPod } from '../../model/pod/pod.js';
import type { PodActions } from '../../model/pod-actions/pod-actions.js';
import type { RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import { unappliedFields, unappliedText } from '../../model/manifest/security-fields.js';
import { PodSyncError, SyncCancelled } from '../../model/pod-actions/sync-error.js';
import { emitEvent, journaled, type PodSyncContext } from './pod-sync-context.js';

/** The sandbox in which containers start. */
export interface Sandbox {
  readonly id: string;
  readonly config: DeepPartial<PodSandboxConfig>;
  readonly ips: readonly string[];
}

/**
 * Emits the pod's sandbox once, creating it if `actions` say so.
 *
 * Errors: `PodSyncError`, after its event.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_sandbox.go createPodSandbox
 */
export const ensureSandbox = (
  context: PodSyncContext,
  { createSandbox, sandboxId, attempt }: PodActions,
  status: RuntimePodStatus,
  { node }: { readonly node: NodeFacts },
): Observable<Sandbox> =>
  defer(() => {
    if (!createSandbox)
      return of<Sandbox>({ id: sandboxId, config: configOf(context, attempt, node), ips: status.ips });
    return defer(() => create(context, attempt, node)).pipe(
      catchError((error: unknown) => {
        if (error instanceof SyncCancelled) throw error;
        countAttempt(context, true);
        emitEvent(context, 'Warning', 'FailedCreatePodSandBox', `Failed to create pod sandbox: ${errorText(error)}`);
        const problem = error instanceof SandboxProblem ? `${error.tried}: ${error.message}` : errorText(error);
        return throwError(() => sandboxError('CreatePodSandboxError', problem, error));
      }),
      concatMap(({ id, config }) => inspect(context, id).pipe(map((ips): Sandbox => ({ id, config, ips })))),
    );
  });

/** Upstream also counts a container that fails in a new sandbox with users of its own. Here such a pod has no sandbox. */
const countAttempt = ({ pod, ports: { metrics } }: PodSyncContext, failed: boolean): void => {
  metrics.podStarted(failed);
  if (pod.spec.hostUsers === false) metrics.userNamespacedPodStarted(failed);
};

const configOf = ({ pod, cgroupParent }: PodSyncContext, attempt: number, node: NodeFacts): Sandbox['config'] =>
  sandboxConfig({ pod, attempt, node, cgroupParent });

/** Throws the problems of the pod before the first call. */
const create = (
  context: PodSyncContext,
  attempt: number,
  node: NodeFacts,
): Observable<Pick<Sandbox, 'id' | 'config'>> => {
  const { pod, ports } = context;
  const naming = (what: string) => `Failed to ${what} for pod ${JSON.stringify(formatPod(pod))}`;
  const config = attempted(naming('generate sandbox config'), () => configOf(context, attempt, node));
  const unapplied = unappliedFields(pod.spec, node.unappliedSecurity ?? []);
  if (unapplied.length > 0) {
    const message = `The runtime does not apply ${unappliedText(unapplied)}; the pod runs without`;
    emitEvent(context, 'Warning', 'SecurityNotApplied', message);
  }
  for (const { reason, message } of podDns(pod, node).warnings) {
    if (reason === MISSING_CLUSTER_DNS.reason) ports.recordNodeEvent({ type: 'Warning', ...MISSING_CLUSTER_DNS });
    emitEvent(context, 'Warning', reason, message);
  }
  return concat(
    ports.files
      .makeDirectory(podLogDirectory(node.podLogsDirectory, pod), 0o755)
      .pipe(catchError((error: unknown) => failedTo(naming('create log directory'), error))),
    defer(() => run(context, config, runtimeHandler(context)).pipe(map((id) => ({ id, config })))).pipe(
      catchError((error: unknown) => failedTo(naming('create sandbox'), error)),
    ),
  );
};

/** A failed step: the event has its cause, and the error of the sync has the step and the cause. */
class SandboxProblem extends Error {
  override readonly name = 'SandboxProblem';
  constructor(
    readonly tried: string,
    override readonly cause: unknown,
  ) {
    super(errorText(cause), { cause });
  }
}

const failedTo = (tried: string, error: unknown): Observable<never> =>
  throwError(() => (error instanceof SyncCancelled ? error : new SandboxProblem(tried, error)));

const attempted = <T>(tried: string, attempt: () => T): T => {
  try {
    return attempt();
  } catch (error) {
    throw new SandboxProblem(tried, error);
  }
};

/**
 * Returns the runtime handler of the pod's class; the default without a class.
 *
 * Errors: the class does not exist.
 * Source: pkg/kubelet/runtimeclass/runtimeclass_manager.go LookupRuntimeHandler
 */
const runtimeHandler = (context: PodSyncContext): string => {
  const { runtimeClasses } = context.ports;
  const { runtimeClassName } = context.pod.spec;
  if (!runtimeClassName) return '';
  if (!runtimeClasses) {
    // A kubelet without an API server does the same, without an event.
    const message = `runtimeClassName ${JSON.stringify(runtimeClassName)} has no effect here, the default handler of the runtime is used`;
    emitEvent(context, 'Warning', 'RuntimeClassIgnored', message);
    return '';
  }
  const handler = runtimeClasses(runtimeClassName);
  if (handler === undefined) throw new Error(`runtimeclass.node.k8s.io ${JSON.stringify(runtimeClassName)} not found`);
  return handler;
};

const run = (
  context: PodSyncContext,
  config: DeepPartial<PodSandboxConfig>,
  runtimeHandler: string,
): Observable<string> => {
  const { runtime, metrics, scheduler, startQueue } = context.ports;
  const call$ = defer(() => {
    const startedAt = scheduler.now();
    const seconds = () => (scheduler.now() - startedAt) / 1000;
    return journaled(context, 'RunPodSandbox', {}, runtime.runPodSandbox({ config, runtimeHandler })).pipe(
      tap({
        next: () => {
          metrics.runPodSandbox(runtimeHandler, seconds(), false);
          countAttempt(context, false);
        },
        error: () => metrics.runPodSandbox(runtimeHandler, seconds(), true),
      }),
    );
  });
  return call$.pipe(
    startQueue('RunPodSandbox', context.signal),
    map(({ podSandboxId }) => podSandboxId),
  );
};

const inspect = (context: PodSyncContext, id: string): Observable<readonly string[]> =>
  context.ports.runtime.podSandboxStatus({ podSandboxId: id }).pipe(
    map(({ status }) => {
      if (!status) throw new Error('pod sandbox status is nil');
      return context.pod.spec.hostNetwork ? [] : sandboxIps(status);
    }),
    catchError((error: unknown) => {
      emitEvent(context, 'Warning', 'FailedPodSandBoxStatus', `Unable to get pod sandbox status: ${errorText(error)}`);
      return throwError(() => sandboxError('ConfigPodSandboxError', errorText(error), error));
    }),
  );

const sandboxError = (reason: string, problem: string, cause: unknown): PodSyncError =>
  new PodSyncError([new Error(`${reason}: ${problem}`, { cause })]);
