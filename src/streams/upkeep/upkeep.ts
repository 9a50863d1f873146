import { EMPTY, filter, ignoreElements, type Observable, tap } from 'rxjs';
import { type ContainerGcPolicy, DEFAULT_CONTAINER_GC } from '../../model/upkeep/container-gc.js';
import { DEFAULT_IMAGE_GC, type ImageGcPolicy, keepsImages } from '../../model/images/image-gc.js';
import { DEFAULT_LOG_ROTATION, type LogRotationPolicy } from '../../model/upkeep/log-rotation.js';
import type { NodeFacts } from '../../model/node/node-facts.js';
import { isEvicted } from '../../model/pod-status/readiness-reconcile.js';
import type { RuntimePod } from '../../model/pleg/runtime-pod.js';
import type { KubeletCgroups } from '../cgroups/kubelet-cgroups.js';
import type { NodeReclaim } from '../eviction/eviction-manager.js';
import { garbageCollection, type GarbageCollectionOptions, removeDeadContainers } from './garbage-collection.js';
import { type ImageGarbage, imageGarbage, type ImageGcOptions } from '../images/image-gc.js';
import { imageLists } from '../images/image-list.js';
import { logRotation, type LogRotationOptions } from './log-rotation.js';
import type { PodCache, PodReading } from '../pleg/pod-cache.js';
import type { PodDirectories } from './pod-directories.js';
import type { RuntimeReader } from '../pleg/runtime-reader.js';
import { statusChanges } from '../status/status-changes.js';
import type { KubeletState } from '../sync-loop/kubelet-state.js';
import type { LoopContext } from '../sync-loop/loop-context.js';

/** Policies of the upkeep. Defaults are the kubelet's. */
export interface UpkeepPolicies {
  readonly containerGc?: ContainerGcPolicy;
  readonly logRotation?: LogRotationPolicy;
  readonly imageGc?: ImageGcPolicy;
}

type UpkeepPorts = Pick<GarbageCollectionOptions, 'runtime' | 'files'> &
  Pick<LogRotationOptions, 'runtime' | 'logFiles'> &
  Pick<ImageGcOptions, 'runtime' | 'images' | 'diskSpace'>;

/** The inputs of the loop that the upkeep also reads. */
export interface UpkeepInputs {
  readonly pleg$: GarbageCollectionOptions['pleg$'];
  readonly housekeeping$: Observable<readonly RuntimePod[]>;
}

interface UpkeepOptions extends UpkeepPorts {
  readonly context: LoopContext;
  readonly node: NodeFacts;
  readonly runtimeName: string;
  readonly reader: RuntimeReader;
  readonly cache: PodCache;
  readonly directories: PodDirectories;
  readonly cgroups: KubeletCgroups;
  readonly inputs: UpkeepInputs;
  readonly policies: UpkeepPolicies;
}

/** The upkeep. Its streams emit nothing, do not fail and do not end; failures are logged and retried in the next round. */
export interface UpkeepStreams {
  readonly containerGarbage$: Observable<never>;
  readonly logs$: Observable<never>;
  readonly imageGarbage$: Observable<never>;
  readonly images$: Observable<never>;
  readonly podDirectories$: Observable<never>;
  readonly cgroups$: Observable<never>;
  /** What a node that is short of disk space removes at once. */
  readonly reclaim: NodeReclaim;
}

/** Makes the streams of the upkeep. */
export const upkeep = (options: UpkeepOptions): UpkeepStreams => {
  const { context, node, cache, directories, cgroups, policies, inputs } = options;
  const { state } = context;
  const ports = { ...context, ...options };
  const ofContainers: GarbageCollectionOptions = {
    ...{ ...ports, ...node },
    pleg$: inputs.pleg$,
    statusOf: (uid) => statusIn(cache.get(uid)),
    evicted$: evictedPods(state),
    policy: policies.containerGc ?? DEFAULT_CONTAINER_GC,
  };
  const ofImages = keepsImages(options.runtimeName)
    ? imageGarbage({ ...ports, policy: policies.imageGc ?? DEFAULT_IMAGE_GC })
    : NO_IMAGES;
  return {
    containerGarbage$: garbageCollection(ofContainers),
    logs$: logRotation({ ...ports, policy: policies.logRotation ?? DEFAULT_LOG_ROTATION }),
    imageGarbage$: ofImages.collection$,
    images$: imageLists(ports).pipe(
      tap((images) => state.apply({ kind: 'images-listed', images })),
      ignoreElements(),
    ),
    podDirectories$: directories.cleanUp(inputs.housekeeping$, (uid, running) => isForgotten(state, uid, running)),
    cgroups$: cgroups.tend(inputs.housekeeping$, (uid) => !state.workers.shouldBeFinished(uid)),
    reclaim: { 'dead-containers': removeDeadContainers(ofContainers), 'unused-images': ofImages.removeUnused$ },
  };
};

const NO_IMAGES: ImageGarbage = { collection$: EMPTY, removeUnused$: EMPTY };

/** Whether every source is ready and none has the pod, no worker has it, and no container of it runs. */
const isForgotten = ({ sources, pods, workers }: KubeletState, uid: string, running: readonly RuntimePod[]): boolean =>
  sources.all &&
  pods.get(uid) === undefined &&
  workers.record(uid) === undefined &&
  running.every((pod) => pod.uid !== uid);

/** UIDs of evicted pods whose status has changed. Source: pkg/kubelet/kubelet.go HandlePodReconcile */
const evictedPods = (state: KubeletState): Observable<string> =>
  statusChanges(state).pipe(
    filter((uid) => {
      const pod = state.pods.get(uid);
      return pod !== undefined && isEvicted(pod);
    }),
  );

const statusIn = (reading: PodReading) => (reading.kind === 'status' ? reading.status : undefined);
