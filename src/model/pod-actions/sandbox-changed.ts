import type { Pod } from '../pod/pod.js';
import type { RuntimePodStatus } from '../pleg/runtime-pod.js';

/** Whether the pod needs a new sandbox, and with which attempt. */
export interface SandboxVerdict {
  readonly changed: boolean;
  /** The attempt of the sandbox to create, or of the one that stays. */
  readonly attempt: number;
  /** The sandbox that goes, or the one that stays; empty if there is none. */
  readonly sandboxId: string;
  readonly because: string;
  /** The problem of the sandbox, as the status of the pod shows it; absent if it stays. */
  readonly problem?: string;
}

/** Source: pkg/kubelet/kuberuntime/util/util.go PodSandboxChanged; the first rule that applies decides. */
export const sandboxChanged = (pod: Pod, status: RuntimePodStatus): SandboxVerdict => {
  const [newest] = status.sandboxes;
  if (newest === undefined) {
    const because = 'the pod has no sandbox yet';
    return { changed: true, attempt: 0, sandboxId: '', because, problem: 'no pod sandbox exists' };
  }

  const attempt = newest.metadata?.attempt ?? 0;
  const replace = (problem: string, because: string, sandboxId = newest.id): SandboxVerdict => ({
    changed: true,
    attempt: attempt + 1,
    sandboxId,
    because,
    problem,
  });

  const ready = status.sandboxes.filter(({ state }) => state === 'SANDBOX_READY').length;
  if (ready > 1)
    return replace('more than one pod sandbox is ready', `${ready} sandboxes are ready where one is expected`);
  if (newest.state !== 'SANDBOX_READY') return replace('pod sandbox is not ready', `sandbox ${newest.id} is not ready`);

  const network = newest.linux?.namespaces?.options?.network ?? 'POD';
  const wanted = pod.spec.hostNetwork === true ? 'NODE' : 'POD';
  // No id: a changed spec is no surprise, so there is no event.
  if (network !== wanted) {
    const because = `sandbox ${newest.id} has network mode ${network}, wanted ${wanted}`;
    return replace('pod sandbox has another network mode', because, '');
  }
  if (wanted === 'POD' && newest.network?.ip === '') {
    return replace('pod sandbox has no IP address', `sandbox ${newest.id} has no IP address`);
  }
  return { changed: false, attempt, sandboxId: newest.id, because: `sandbox ${newest.id} is ready` };
};
