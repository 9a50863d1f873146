import type { JournalEntry } from '../../../model/journal/journal.js';
import type { Pod } from '../../../model/pod/pod.js';
import type { SimulatedInstance, SimulatedPodSandbox } from '../world/world-event.js';

/** One instance of a container. Times are virtual milliseconds, those that end in `Wall` are of the wall clock. */
export interface InstanceTruth extends SimulatedInstance {
  readonly createdAt: number;
  readonly startedAt?: number;
  readonly exitedAt?: number;
  readonly exitedWall?: number;
  readonly exitCode?: number;
  readonly removedAt?: number;
  /** After a boot the runtime does not know when it was made, and whether it ever ran. */
  readonly isStatusLost?: boolean;
}

export interface SandboxTruth extends SimulatedPodSandbox {
  readonly createdAt: number;
  readonly stoppedAt?: number;
  readonly removedAt?: number;
}

/** One run of a worker. */
export interface PassTruth {
  /** The id of its `sync-started`. */
  readonly id: string;
  readonly work: 'sync' | 'terminating' | 'terminated';
  readonly since: number;
  readonly sinceWall: number;
  readonly graceSeconds?: number;
}

type Journaled<Kind extends JournalEntry['kind']> = Extract<JournalEntry, { readonly kind: Kind }>;

/** The true state of the pod of one UID. */
export interface PodTruth {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  /** In the order of their creation, removed ones included. */
  readonly instances: readonly InstanceTruth[];
  readonly sandboxes: readonly SandboxTruth[];
  /** The version of its source now. */
  readonly wanted?: Pod;
  readonly source?: string;
  /** The last version of a source. */
  readonly manifest?: Pod;
  /** Since when its source has had this version, or none. */
  readonly specSince: number;
  /** When the image of a container last changed in its source. */
  readonly imageChangedAt: ReadonlyMap<string, number>;
  /** Since when a source has had the pod, without a break. */
  readonly wantedSince?: number;
  /** The longest grace period of any of its versions. */
  readonly longestGraceSeconds: number;
  /** When an agent last forgot what it had done for the pod. Instances that ran before belong to a life that is over. */
  readonly forgottenAt?: number;

  // The following is of the present life of the agent.
  readonly pass?: PassTruth;
  /** The number of ended runs of the worker that read the pod. */
  readonly lastPassEndedAt?: number;
  readonly passBeforeEndedAt?: number;
  readonly lastPass?: PassTruth & { readonly ended: Journaled<'sync-ended'>; readonly endedAt: number };
  /** Since the agent has acknowledged that the pod has to stop; until it has forgotten the pod. */
  readonly terminatingSince?: number;
  readonly rejectedAt?: number;
  readonly killRequestedAt?: number;
  readonly removalHandledAt?: number;
  readonly addedAt?: number;
  /** When the agent last received the pod from its source. */
  readonly heardAt?: number;
  readonly startDelayed?: { readonly at: number; readonly holder: string };
  readonly phase?: string;
  /** By container, and by `image-pull` of a container as `<container> image`. Unix milliseconds. */
  readonly backOffUntil: ReadonlyMap<string, number>;
  /** When a liveness or startup probe of a container last failed. */
  readonly probeFailedAt: ReadonlyMap<string, number>;
  readonly shown?: { readonly pod: Pod; readonly at: number };
}

export type Mutable<T> = { -readonly [Key in keyof T]: T[Key] };
/** The same, for the two files that change it. */
export type MutablePod = Mutable<
  Omit<PodTruth, 'instances' | 'sandboxes' | 'imageChangedAt' | 'backOffUntil' | 'probeFailedAt'>
> & {
  readonly instances: Mutable<InstanceTruth>[];
  readonly sandboxes: Mutable<SandboxTruth>[];
  readonly imageChangedAt: Map<string, number>;
  readonly backOffUntil: Map<string, number>;
  readonly probeFailedAt: Map<string, number>;
};

/** A pod of which nothing has happened yet. */
export const newPodTruth = ({
  uid,
  pod: name,
  namespace,
}: Pick<SimulatedInstance, 'uid' | 'pod' | 'namespace'>): MutablePod => ({
  uid,
  name,
  namespace,
  instances: [],
  sandboxes: [],
  specSince: 0,
  imageChangedAt: new Map(),
  longestGraceSeconds: 0,
  backOffUntil: new Map(),
  probeFailedAt: new Map(),
});

/** The longest time by which a pod from the API server is older than the truth. Milliseconds. */
const LATE_NEWS_MS = 10_000;

/** The longest time by which the version that the agent has of a pod is older than the truth. Milliseconds. */
export const lateNewsMs = ({ source }: Pick<PodTruth, 'source'>): number => (source === 'api' ? LATE_NEWS_MS : 0);

/** The time between two relists while the runtime emits events. Milliseconds. */
const RELIST_MS = 330_000;

/**
 * Whether this agent has read the pod from the runtime. Until then the pod shows the status of its source: a sync that cannot read
 * its pod makes no status. Source: pkg/kubelet/pod_workers.go podWorkerLoop
 */
export const isRead = ({ lastPassEndedAt }: PodTruth): boolean => lastPassEndedAt !== undefined;

/**
 * The time before which the agent knows every event, if a sync of the pod has just ended; -Infinity while it has not read the pod.
 * Virtual milliseconds.
 */
export const seenSinceOf = (
  { lifeSince }: { readonly lifeSince: number },
  pod: PodTruth,
  { at, eventedPleg }: { readonly at: number; readonly eventedPleg: boolean },
): number => {
  if (!isRead(pod)) return -Infinity;
  return Math.min(pod.passBeforeEndedAt ?? lifeSince, eventedPleg ? at - RELIST_MS : Infinity);
};

export const isLive = ({ startedAt, exitedAt, removedAt }: InstanceTruth): boolean =>
  startedAt !== undefined && exitedAt === undefined && removedAt === undefined;

export const isReady = ({ stoppedAt, removedAt }: SandboxTruth): boolean =>
  stoppedAt === undefined && removedAt === undefined;

/** The running instances of one container of the pod. */
export const liveInstances = (
  { instances }: Pick<PodTruth, 'instances'>,
  container: string,
): readonly InstanceTruth[] => instances.filter((instance) => instance.container === container && isLive(instance));
