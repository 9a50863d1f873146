import {
  asyncScheduler,
  catchError,
  defer,
  EMPTY,
  forkJoin,
  map,
  mergeMap,
  type Observable,
  of,
  type SchedulerLike,
  tap,
  toArray,
  merge,
} from 'rxjs';
import type { Container, ContainerStatus, PodSandbox, PodSandboxStatus } from '../../generated/runtime/v1/api.js';
import { isCriError } from '../../model/cri/cri-error.js';
import {
  leftOutOf,
  podLabelSelector,
  podNameSelector,
  podRefOfLabels,
  podUidsIn,
  toRuntimePods,
  toRuntimePodStatus,
} from '../../model/cri/runtime-pod-status.js';
import type { PodRef } from '../../model/pod/pod.js';
import type { RuntimeItem, RuntimePod, RuntimePodStatus } from '../../model/pleg/runtime-pod.js';
import type { RuntimeService } from '../ports/runtime-service.js';
import { messagesOfRuntime, type TerminationMessages } from './termination-messages.js';

/** Reads pods from the runtime. Every call is cold, emits once and completes. */
export interface RuntimeReader {
  /**
   * The pods of one listing, the newest first: with all items, or with ready sandboxes and running containers only.
   * `observedAt` is the time of the request. Errors: the `CriError` of either list call.
   */
  readonly listPods: (which: 'all' | 'running') => Observable<readonly RuntimePod[]>;
  /**
   * The status of one pod; empty lists if the runtime does not have it. An empty namespace and name are filled in from the
   * runtime's labels. Items that disappear between the listing and their inspection are left out. `messages` completes the
   * message of an ended container. `ran` holds the items that ran at the last read: those that the listing leaves out are read
   * by their id, since an incomplete listing would lead to a second start of their containers.
   * Errors: the `CriError` of any other failed call.
   */
  readonly podStatus: (
    ref: PodRef,
    ran?: readonly Pick<RuntimeItem, 'kind' | 'id' | 'sandboxId'>[],
  ) => Observable<RuntimePodStatus>;
  /** The pods of this name with a ready sandbox. Errors: the `CriError` of the list call. */
  readonly readyPodsCalled: (name: Pick<PodRef, 'name' | 'namespace'>) => Observable<readonly PodRef[]>;
}

/** The calls of a reader. */
export type ReaderCalls = Pick<
  RuntimeService,
  'listPodSandbox' | 'listContainers' | 'podSandboxStatus' | 'containerStatus'
>;

/** Source: pkg/kubelet/kuberuntime/kuberuntime_manager.go GetPods and GetPodStatus. */
export const runtimeReader = (
  runtime: ReaderCalls,
  scheduler: SchedulerLike = asyncScheduler,
  messages: TerminationMessages = messagesOfRuntime,
): RuntimeReader => {
  const list = (sandboxes: SandboxFilter, containers: ContainerFilter): Observable<Listing> =>
    forkJoin([runtime.listPodSandbox({ filter: sandboxes }), runtime.listContainers({ filter: containers })]).pipe(
      map(([{ items }, listed]) => ({ sandboxes: items, containers: listed.containers })),
    );

  const sandboxStatus = ({ id }: Pick<PodSandbox, 'id'>): Observable<PodSandboxStatus> =>
    runtime.podSandboxStatus({ podSandboxId: id }).pipe(
      map(({ status }) => present(status, 'pod sandbox status is nil')),
      catchError(skipNotFound),
    );

  const containerStatus = ({
    id,
    podSandboxId,
  }: Pick<Container, 'id' | 'podSandboxId'>): Observable<InspectedContainer> =>
    runtime.containerStatus({ containerId: id }).pipe(
      mergeMap(({ status }) => messages.complete(present(status, 'container status is nil'))),
      map((status) => ({ status, sandboxId: podSandboxId })),
      catchError(skipNotFound),
    );

  return {
    listPods: (which) =>
      defer(() => {
        const observedAt = scheduler.now();
        return list(...(which === 'all' ? EVERYTHING : RUNNING)).pipe(
          map(({ sandboxes, containers }) => toRuntimePods(sandboxes, containers, observedAt)),
          tap((pods) => which === 'all' && messages.retain(pods)),
        );
      }),
    podStatus: (ref, ran = []) => {
      const labelSelector = podLabelSelector(ref.uid);
      return list({ labelSelector }, { labelSelector }).pipe(
        mergeMap(({ sandboxes, containers }) => {
          const lost = leftOutOf(ran, sandboxes, containers);
          return forkJoin([
            of(knownRef(ref, sandboxes[0] ?? containers[0])),
            merge(...[...sandboxes, ...lost.sandboxes].map(sandboxStatus)).pipe(toArray()),
            merge(
              ...containers.map(containerStatus),
              ...lost.containers.map(({ id, sandboxId }) => containerStatus({ id, podSandboxId: sandboxId })),
            ).pipe(toArray()),
          ]);
        }),
        map(([known, sandboxes, containers]) => toRuntimePodStatus(known, sandboxes, containers)),
      );
    },
    readyPodsCalled: ({ name, namespace }) => {
      const labelSelector = podNameSelector({ name, namespace });
      return runtime
        .listPodSandbox({ filter: { state: { state: 'SANDBOX_READY' }, labelSelector } })
        .pipe(map(({ items }) => podUidsIn(items).map((uid) => ({ uid, name, namespace }))));
    },
  };
};

interface Listing {
  readonly sandboxes: readonly PodSandbox[];
  readonly containers: readonly Container[];
}
interface InspectedContainer {
  readonly status: ContainerStatus;
  readonly sandboxId: string;
}
type SandboxFilter = Parameters<RuntimeService['listPodSandbox']>[0]['filter'];
type ContainerFilter = Parameters<RuntimeService['listContainers']>[0]['filter'];

const EVERYTHING: readonly [SandboxFilter, ContainerFilter] = [undefined, undefined];
const RUNNING: readonly [SandboxFilter, ContainerFilter] = [
  { state: { state: 'SANDBOX_READY' } },
  { state: { state: 'CONTAINER_RUNNING' } },
];

const skipNotFound = (error: unknown): Observable<never> => {
  if (isCriError(error, 'not-found')) return EMPTY;
  throw error;
};

const present = <T>(status: T | undefined, problem: string): T => {
  if (status === undefined) throw new Error(problem);
  return status;
};

const knownRef = (ref: PodRef, listed: PodSandbox | Container | undefined): PodRef =>
  ref.name === '' && listed ? podRefOfLabels(listed.labels, ref.uid) : ref;
