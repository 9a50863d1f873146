import { EMPTY, filter, ignoreElements, merge, type Observable, tap } from 'rxjs';
import { type ContainerGcPolicy, DEFAULT_CONTAINER_GC } from '../model/container-gc.js';
import { DEFAULT_IMAGE_GC, type ImageGcPolicy, keepsImages } from '../model/images/image-gc.js';
import { DEFAULT_LOG_ROTATION, type LogRotationPolicy } from '../model/log-rotation.js';
import type { NodeFacts } from '../model/node-facts.js';
import { isEvicted } from '../model/pod-status/readiness-reconcile.js';
import type { RuntimePod } from '../model/runtime-pod.js';
import type { KubeletCgroups } from './cgroups/kubelet-cgroups.js';
import { garbageCollection, type GarbageCollectionOptions } from './garbage-collection.js';
import { imageGarbageCollection, type ImageGcOptions } from './image-gc.js';
import { type Image, imageLists } from './image-list.js';
import { logRotation, type LogRotationOptions } from './log-rotation.js';
import type { PodCache, PodReading } from './pod-cache.js';
import type { PodDirectories } from './pod-directories.js';
import type { RuntimeReader } from './runtime-reader.js';
import { statusChanges } from './status/status-changes.js';
import type { LoopDesk } from './sync-loop/loop-desk.js';

/** The policies of what is done beside the loop; the kubelet's defaults unless given. */
export interface ChorePolicies {
  readonly containerGc?: ContainerGcPolicy;
  readonly logRotation?: LogRotationPolicy;
  readonly imageGc?: ImageGcPolicy;
}

type ChorePorts = Pick<GarbageCollectionOptions, 'runtime' | 'files'> &
  Pick<LogRotationOptions, 'runtime' | 'logFiles'> &
  Pick<ImageGcOptions, 'runtime' | 'images' | 'diskSpace'>;

export interface ChoresOptions extends ChorePorts {
  readonly desk: LoopDesk;
  readonly node: NodeFacts;
  readonly runtimeName: string;
  readonly reader: RuntimeReader;
  readonly cache: PodCache;
  readonly directories: PodDirectories;
  readonly cgroups: KubeletCgroups;
  readonly pleg$: GarbageCollectionOptions['pleg$'];
  readonly housekeeping$: Observable<readonly RuntimePod[]>;
  /** Hears every list of the node's images. */
  readonly imagesListed: (images: readonly Image[]) => void;
  readonly policies: ChorePolicies;
}

/**
 * What has to be done now and then and that no pod waits for: garbage of pods and images, logs, directories, cgroups. Emits
 * nothing.
 *
 * Errors: none; what fails is said, and tried again when its time comes.
 * Ends:   never.
 */
export const chores = (options: ChoresOptions): Observable<never> => {
  const { desk, node, cache, directories, cgroups, housekeeping$, policies } = options;
  const ports = { ...desk, ...options };
  const garbage$ = garbageCollection({
    ...ports,
    ...node,
    areSourcesReady: () => desk.sources.all,
    statusOf: (uid) => statusIn(cache.get(uid)),
    evicted$: evictedPods(desk),
    policy: policies.containerGc ?? DEFAULT_CONTAINER_GC,
  });
  const rotation$ = logRotation({ ...ports, policy: policies.logRotation ?? DEFAULT_LOG_ROTATION });
  const imageGarbage$ = keepsImages(options.runtimeName)
    ? imageGarbageCollection({ ...ports, policy: policies.imageGc ?? DEFAULT_IMAGE_GC })
    : EMPTY;
  const imageList$ = imageLists(ports).pipe(tap(options.imagesListed), ignoreElements());
  const directories$ = directories.cleanUp(housekeeping$, (uid, running) => isForgotten(desk, uid, running));
  const cgroups$ = cgroups.tend(housekeeping$, (uid) => !desk.workers.shouldBeFinished(uid));
  return merge(garbage$, rotation$, imageGarbage$, imageList$, directories$, cgroups$);
};

/** No source wants the pod, nobody works on it, and nothing of it runs. */
const isForgotten = ({ pods, workers }: LoopDesk, uid: string, running: readonly RuntimePod[]): boolean =>
  pods.get(uid) === undefined && workers.record(uid) === undefined && running.every((pod) => pod.uid !== uid);

/** Whatever is told of an evicted pod, once the API has its end. Source: pkg/kubelet/kubelet.go HandlePodReconcile */
const evictedPods = ({ pods, statuses }: LoopDesk): Observable<string> =>
  statusChanges(statuses).pipe(
    filter((uid) => {
      const pod = pods.get(uid);
      return pod !== undefined && isEvicted(pod);
    }),
  );

const statusIn = (reading: PodReading) => (reading.kind === 'status' ? reading.status : undefined);
