/** The state of the volumes of a pod that waits for them. */
export interface VolumeWait {
  /** Not set up yet. */
  readonly unmounted: readonly string[];
  /** Volumes of network storage that are not attached to the node. */
  readonly unattached: readonly string[];
  /** The agent has refused to set them up. */
  readonly unprocessed: readonly string[];
}

/** The wait for volumes ends without them after 2 min 3 s. Source: pkg/kubelet/volumemanager/volume_manager.go */
export const VOLUME_WAIT_MS = 123_000;

/** The cause when the time for a wait is over. Source: Go's `context.DeadlineExceeded` */
export const VOLUME_WAIT_TIMED_OUT = 'context deadline exceeded';

/** Returns the message of the event `FailedMount` for a failed attempt. Source: pkg/volume/util/operationexecutor */
export const setUpFailedText = (volume: string, error: string): string =>
  `MountVolume.SetUp failed for volume "${volume}" : ${error}`;

/** Returns the message of the event `FailedMount` for a wait that cannot succeed. Source: pkg/kubelet/kubelet.go */
export const waitFailedText = (wait: string): string => `Unable to attach or mount volumes: ${wait}`;

/**
 * Returns the error of a wait for volumes that ended without them, with sorted names.
 *
 * Source: pkg/kubelet/volumemanager/volume_manager.go WaitForAttachAndMount
 */
export const mountWaitText = ({ unmounted, unattached, unprocessed }: VolumeWait, cause: string): string =>
  `unmounted volumes=${list(unmounted)}, unattached volumes=${list(unattached)}, ` +
  `failed to process volumes=${list(unprocessed)}: ${cause}`;

/** Returns the error of a wait for the end of volumes. Source: volume_manager.go WaitForUnmount */
export const unmountWaitText = (mounted: readonly string[], cause: string): string =>
  `mounted volumes=${list(mounted)}: ${cause}`;

const list = (names: readonly string[]): string => `[${[...names].sort().join(' ')}]`;
