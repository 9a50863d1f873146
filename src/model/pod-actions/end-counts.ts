import { containerHash, isSameHash } from './container-hash.js';
import type { Container } from '../pod/pod.js';
import type { RuntimeContainerStatus } from '../pleg/runtime-pod.js';

/** The end of an instance, or that of one which still runs and is being replaced. */
export interface EndFacts {
  readonly instance: Pick<RuntimeContainerStatus, 'state' | 'exitCode' | 'reason' | 'hash'>;
  readonly container: Container;
  /** The sandbox of the instance still runs. No sandbox outlives a stop of its pod, a boot, or the loss of all its processes. */
  readonly isSandboxReady: boolean;
  /** The agent had begun to stop the instance, for a reason outside of the container. */
  readonly isStopped: boolean;
}

export interface EndVerdict {
  readonly counts: boolean;
  /** Half a sentence after "its end". */
  readonly because: string;
}

/**
 * Decides whether the end of a container is one of a crash loop, for the back-off that outlives the agent and the pod's worker: the container
 * ended by itself, or failed a probe or its postStart hook, while the machine, the runtime and the agent let it run. Without evidence of that
 * it does not count.
 *
 * Source: the rule is ours. Upstream counts every end that its runtime shows, and forgets all of them with the process.
 */
export const endVerdict = ({ instance, container, isSandboxReady, isStopped }: EndFacts): EndVerdict => {
  if (instance.state === 'unknown' || UNKNOWN_REASONS.has(instance.reason))
    return { counts: false, because: 'is one whose cause is unknown' };
  if (isStopped) return { counts: false, because: 'was asked for by the agent' };
  if (!isSandboxReady) return { counts: false, because: 'is no reason to wait, since its sandbox has ended too' };
  if (instance.state === 'exited') return { counts: true, because: 'came by itself' };
  return isSameHash(instance.hash, containerHash(container))
    ? { counts: true, because: 'is that of a container that has failed' }
    : { counts: false, because: 'was asked for by another spec' };
};

/**
 * The reasons of ends that no process has reported: the runtime was away, or the machine was off.
 *
 * Source: containerd internal/cri/server/restart.go unknownExitReason, pkg/kubelet/kubelet_pods.go ContainerStatusUnknown
 */
const UNKNOWN_REASONS: ReadonlySet<string> = new Set(['Unknown', 'ContainerStatusUnknown']);
