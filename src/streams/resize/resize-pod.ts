import {
  catchError,
  concat,
  concatMap,
  defer,
  EMPTY,
  forkJoin,
  from,
  ignoreElements,
  map,
  type Observable,
  of,
  tap,
  throwError,
} from 'rxjs';
import { containerLinuxResources } from '../../model/cri/linux-resources.js';
import { errorText, isCriError } from '../../model/cri/cri-error.js';
import { actuatedIn, type ContainerUpdate, isPodBehind } from '../../model/resize/actuated.js';
import { sandboxResources } from '../../model/resize/sandbox-resources.js';
import { overheadResources } from '../../model/cri/sandbox-config.js';
import { amountsOnly } from '../../model/resize/pod-resizes.js';
import {
  memoryProblem,
  type MemoryUsage,
  type ResizeInput,
  type ResizeStep,
  resizeSteps,
  withLessMemory,
} from '../../model/resize/resize-steps.js';
import type { PodCgroups } from '../cgroups/pod-cgroups.js';
import { journaled, type PodSyncContext } from '../pod-sync/pod-sync-context.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { AmountKeeper } from './amount-keeper.js';

/** What was done to a resized pod. */
export interface ResizeResult {
  /** Something of it was written. */
  readonly acted: boolean;
  /** Why the rest was not. */
  readonly error?: string;
}

/**
 * Gives a pod that was resized, and its running containers, the amounts of its spec, one write after the other. A failure ends it; what was
 * written stays, and the next sync goes on from there. Emits the result once.
 *
 * Errors: none.
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go doPodResizeAction
 */
export type ResizePod = (
  context: PodSyncContext,
  updates: readonly ContainerUpdate[],
  sandboxId?: string,
) => Observable<ResizeResult>;

export interface ResizePodPorts {
  readonly state: Pick<KubeletState, 'apply' | 'value'>;
  readonly podCgroups: Pick<PodCgroups, 'read' | 'resourcesOf' | 'set' | 'weigh'>;
  readonly amountKeeper: Pick<AmountKeeper, 'save$'>;
}

export const resizePod =
  (ports: ResizePodPorts): ResizePod =>
  (context, updates, sandboxId) =>
    defer(() => {
      const { pod, ports: world } = context;
      const startedAt = world.scheduler.now();
      let acted = false;
      const write = (step: ResizeStep): Observable<never> =>
        defer(() => {
          acted = true;
          if (step.kind === 'container') return containerWrite(context, step, ports);
          return concat(sandboxUpdate(context, step, sandboxId, ports), podWrite(context, step, ports));
        });
      // The cgroup of the pod has all that it should have, also if nothing had to be written.
      const podDone$ = defer(() => {
        const { uid } = pod.metadata;
        if (!isPodBehind(pod, actuatedIn(ports.state.value.resizes, uid))) return EMPTY;
        acted = true;
        ports.state.apply({ kind: 'pod-resized', uid, amounts: amountsOnly(pod.spec.resources) });
        return ports.amountKeeper.save$;
      });
      const all$ = inputOf(context, updates, ports).pipe(
        concatMap((input) => {
          const steps = resizeSteps(input);
          if (steps.length === 0) return podDone$;
          return concat(
            checkMemory(context, input),
            from(steps).pipe(concatMap(write)),
            steps.some((step) => step.kind === 'pod' && step.resource === 'cpu') ? ports.podCgroups.weigh() : EMPTY,
            podDone$,
          );
        }),
      );
      return concat(
        all$,
        defer(() => of<ResizeResult>({ acted })),
      ).pipe(
        catchError((cause: unknown) => {
          const error = errorText(cause);
          ports.state.apply({ kind: 'resize-failed', uid: pod.metadata.uid, error });
          return of<ResizeResult>({ acted: true, error });
        }),
        tap(({ acted: hasActed, error }) => {
          if (hasActed) world.metrics.resizeActuated(world.scheduler.now() - startedAt, error === undefined);
        }),
      );
    });

const inputOf = (
  { pod, ports: { node } }: PodSyncContext,
  updates: readonly ContainerUpdate[],
  { podCgroups }: ResizePodPorts,
): Observable<ResizeInput> =>
  podCgroups.read(pod).pipe(
    map((has) => {
      const desired = podCgroups.resourcesOf(pod);
      return { cgroup: has && desired ? { desired, has } : undefined, updates, pageSize: node.pageSize };
    }),
  );

/** Errors: the pod or a container would get less memory than it uses. */
const checkMemory = (context: PodSyncContext, input: ResizeInput): Observable<never> =>
  usageOf(context, input).pipe(
    concatMap((usage) => {
      const problem = memoryProblem(input, usage);
      return problem === undefined ? EMPTY : throwError(() => new Error(problem));
    }),
  );

/** Only instances that get less are measured. One that cannot be measured does not hold the resize up: the kernel refuses what does not fit. */
const usageOf = ({ ports: { runtime } }: PodSyncContext, { cgroup, updates }: ResizeInput): Observable<MemoryUsage> => {
  const measured = withLessMemory(updates).map(({ id }) =>
    runtime.containerStats({ containerId: id }).pipe(
      map(({ stats }) => stats?.memory?.usageBytes?.value ?? stats?.memory?.workingSetBytes?.value),
      catchError(() => of(undefined)),
      map((bytes) => [id, bytes] as const),
    ),
  );
  return (measured.length === 0 ? of([]) : forkJoin(measured)).pipe(
    map((usages) => {
      const byId = new Map(usages);
      return { pod: cgroup?.has.memoryUsage, container: (id) => byId.get(id) };
    }),
  );
};

/**
 * The runtime may refuse a write to the cgroup of the pod; one that does not know the call has no objection.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go updatePodSandboxResources
 */
const sandboxUpdate = (
  context: PodSyncContext,
  { resource, resources }: PodStep,
  sandboxId: string | undefined,
  { podCgroups }: ResizePodPorts,
): Observable<never> => {
  const { pod, ports } = context;
  if (!sandboxId) return EMPTY;
  const { overhead } = pod.spec;
  return podCgroups.read(pod).pipe(
    concatMap((has) => {
      if (!has) return EMPTY;
      const { cpuCfsQuotaPeriodMicros: periodMicros } = ports.node;
      const call$ = ports.runtime.updatePodSandboxResources({
        podSandboxId: sandboxId,
        overhead: overhead ? overheadResources(overhead, ports.node) : {},
        resources: sandboxResources(has, resources, { overhead, periodMicros }),
      });
      return journaled(context, CALL, { target: sandboxId, isNoCall: isUnknownCall }, call$);
    }),
    ignoreElements(),
    catchError((error: unknown) => {
      if (isUnknownCall(error)) return EMPTY;
      return throwError(() => new Error(`${REJECTED} (resource=${resource}); resize rejected: ${errorText(error)}`));
    }),
  );
};

const CALL = 'UpdatePodSandboxResources';
const REJECTED = `failed to notify runtime for ${CALL}`;
const isUnknownCall = (error: unknown): boolean =>
  isCriError(error, 'unimplemented') || (isCriError(error, 'unknown') && /not implemented/i.test(error.message));

type PodStep = Extract<ResizeStep, { readonly kind: 'pod' }>;

const podWrite = (
  context: PodSyncContext,
  { resource, resources }: PodStep,
  { podCgroups }: ResizePodPorts,
): Observable<never> =>
  journaled(context, `UpdatePodCgroup ${resource}`, {}, podCgroups.set(context.pod, resources)).pipe(ignoreElements());

const containerWrite = (
  context: PodSyncContext,
  { id, container, amounts }: Extract<ResizeStep, { readonly kind: 'container' }>,
  { state, amountKeeper }: ResizePodPorts,
): Observable<never> => {
  const { pod, ports } = context;
  const { name } = container;
  const linux = containerLinuxResources(pod, { ...container, resources: amounts }, ports.node, { isUpdate: true });
  const call$ = ports.runtime.updateContainerResources({ containerId: id, linux });
  return concat(
    journaled(context, 'UpdateContainerResources', { target: id, container: name }, call$).pipe(ignoreElements()),
    defer(() => {
      const given = { ...amounts, containerId: id };
      state.apply({ kind: 'instance-resized', uid: pod.metadata.uid, container: name, amounts: given });
      return amountKeeper.save$;
    }),
  );
};
