import type { Image } from '../../generated/runtime/v1/api.js';
import type { RoomWait } from '../admission/preemptions.js';
import type { FailedPull } from '../images/image-back-off.js';
import type { NodePressure } from '../node/node-conditions.js';
import type { Amounts } from '../pod/allocated-resources.js';
import type { Moment } from '../pod/active-times.js';
import type { Volume } from '../manifest/volume-defaults.js';
import type { VolumeName } from '../volumes/volume-states.js';
import type { Pod, PodSourceName, PodStatus } from '../pod/pod.js';
import type { InstanceAmounts, KeptAmounts, PendingResize, PodAmounts } from '../resize/pod-resizes.js';
import type { CrashLoopEntry } from '../pod-actions/crash-loop-back-off.js';
import type { InstanceStart } from '../pod-actions/instance-starts.js';
import type { StartFailure } from '../pod-actions/start-failures.js';
import type { PlegCadence } from '../pleg/pleg.js';
import type { RuntimeStatus } from '../runtime-health/runtime-state.js';
import type { WorkType } from '../pod-workers/pod-worker-record.js';

/** The kinds of changes, with the fields of each. Times are the scheduler's milliseconds, unless said. */
export interface StateChanges {
  /** A source wants the pod, or has another version of it. */
  'pod-set': { readonly pod: Pod };
  /** No source wants the pod any more. */
  'pod-removed': { readonly pod: Pod };
  /** The first set of the source was handled. */
  'source-ready': { readonly source: PodSourceName };
  /** The worker of the pod is done with it, and its record is dropped. */
  'pod-forgotten': { readonly uid: string };
  /** The pod was admitted or rejected. */
  'admission-decided': { readonly uid: string; readonly isAdmitted: boolean };
  /** The pod was admitted, and waits until these have stopped; `victims` are the UIDs of those that are stopped for it. */
  'room-awaited': { readonly uid: string; readonly victims: readonly string[] } & RoomWait;
  /** They have stopped, or their time is over. */
  'room-made': { readonly uid: string };
  /** The checkpoints of an earlier agent were read. */
  'resizes-restored': KeptAmounts;
  /** The containers of the pod were created with these amounts, which are not those of its spec: it was resized since. */
  'allocation-found': { readonly uid: string; readonly amounts: PodAmounts };
  /** The pod gets what its source asks for. */
  'resize-allocated': { readonly uid: string };
  /** The pod does not get what its source asks for, now or at all. */
  'resize-pending': { readonly uid: string; readonly pending: PendingResize };
  /** An instance was given these amounts. */
  'instance-resized': { readonly uid: string; readonly container: string; readonly amounts: InstanceAmounts };
  /** The cgroup of the pod has these amounts, which are those of the pod as a whole. */
  'pod-resized': { readonly uid: string; readonly amounts: Amounts };
  /** A step of a resize that has begun failed. */
  'resize-failed': { readonly uid: string; readonly error: string };
  /** The checkpoints have these amounts. */
  'resizes-saved': KeptAmounts;
  /** Only the resizes of these pods are kept: every source has named its pods. */
  'resizes-retained': { readonly uids: ReadonlySet<string> };
  /** This node has another status of the pod. */
  status: { readonly uid: string; readonly status: PodStatus; readonly isFinished?: boolean };
  /** The API server has deleted the pod, and its status is not needed any more. */
  'status-forgotten': { readonly uid: string };
  /** The API server has another version of the pod or of its mirror pod. No part of the state is about that. */
  'api-object-changed': { readonly uid: string };
  /** Only what is about these pods is kept, beside the wanted pods and the back-offs. */
  'statuses-retained': { readonly uids: ReadonlySet<string> };
  /** An ended pod is desired again under its UID: its old status does not apply to its new life. */
  'pod-started-over': { readonly uid: string };
  /** The running containers of the pod whose postStart hook an earlier agent has not ended, perhaps none. */
  'due-hooks-found': { readonly uid: string; readonly containerIds: readonly string[] };
  /** A container with a postStart hook starts. */
  'hook-begun': { readonly uid: string; readonly containerId: string };
  /** The hook has ended well, or its container has ended. */
  'hook-ended': { readonly uid: string; readonly containerId: string };
  /** The pod has started, by the time of day, RFC 3339. The moment of the first sight counts; see `ActiveTimes`. */
  'start-time-seen': { readonly uid: string; readonly startTime: string } & Moment;
  /** The runtime is called to start an instance, or has answered. */
  'instance-started': { readonly uid: string; readonly container: string; readonly start: InstanceStart };
  /** The start of a container failed or has to wait; without `failure` it succeeded. */
  'start-ended': { readonly uid: string; readonly container: string; readonly failure?: StartFailure };
  /** The back-off of a container before its next restart. */
  'restart-backed-off': { readonly key: string; readonly entry: CrashLoopEntry };
  /** The pull of an image failed; without `failed` it succeeded. */
  'pull-ended': { readonly key: string; readonly failed?: FailedPull };
  /** Back-offs that no decision depends on any more are dropped; `now` is the scheduler's, in milliseconds. */
  'back-offs-expired': { readonly now: number };
  /** The containers of the pod need these volumes. */
  'volumes-wanted': { readonly pod: Pod; readonly volumes: readonly Volume[] };
  /** The containers of the pod end. Nothing is set up for them from now on, and nothing is taken down. */
  'volumes-ending': { readonly uid: string };
  /** No container of the pod needs a volume any more; these may exist. */
  'volumes-unwanted': { readonly pod: Pod; readonly volumes: readonly Volume[] };
  /** The volume is set up, or up to date. */
  'volume-mounted': VolumeName;
  /** From here on containers cannot rely on the volume. */
  'volume-unmounting': VolumeName;
  /** The volume is taken down. */
  'volume-unmounted': VolumeName;
  /** An attempt to set the volume up or to take it down has failed. */
  'volume-failed': VolumeName & { readonly error: string };
  /** The worker of the pod begins a run; `now` is its time. */
  'run-started': { readonly uid: string; readonly work: WorkType; readonly now: number };
  /** That run has ended, in whichever way; or the pod was stopped before its first run. */
  'run-ended': { readonly uid: string };
  /** The pod is in the work queue; an earlier time of it counts no more. */
  'work-queued': { readonly uid: string; readonly dueAt: number };
  /** The sync tick has taken the pods from the work queue. */
  'work-taken': { readonly uids: readonly string[] };
  /** The runtime has answered with its status; `now` is the time of the reply. */
  'runtime-status': { readonly status: RuntimeStatus; readonly now: number };
  /** The runtime has listed its pods; `at` is the time of the request. */
  relisted: { readonly at: number };
  /** The cadence of all relists from now on. */
  'relist-cadence': { readonly cadence: PlegCadence };
  /** A check has found why pods cannot be synced, or that they can. */
  'health-checked': { readonly problem: string | undefined };
  /** The machine shuts down, or does not after all. */
  'shutdown-noticed': { readonly isShuttingDown: boolean };
  /** A check of the node has found what it is short of, if anything. */
  'pressure-observed': { readonly pressure: NodePressure };
  /** The runtime has listed its images, largest first. */
  'images-listed': { readonly images: readonly Image[] };
}

export type ChangeKind = keyof StateChanges;
export type ChangeOf<K extends ChangeKind> = { readonly kind: K } & StateChanges[K];

/** One change of the state. */
export type StateChange = { readonly [K in ChangeKind]: ChangeOf<K> }[ChangeKind];
