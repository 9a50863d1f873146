import { type Container, type ContainerStatus, isSidecar, isStaticPod, type Pod } from '../pod/pod.js';
import { restartable } from '../pod-actions/restart-policy.js';
import { firstNamed } from '../values/indexed-lists.js';

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed';

export interface PodPhaseInput {
  readonly pod: Pod;
  /** The statuses of regular and init containers, in any order. */
  readonly statuses: readonly ContainerStatus[];
  /** The pod is terminating and none of its containers runs any more. */
  readonly podIsTerminal: boolean;
  /** A regular container exists in the active sandbox. */
  readonly podHasInitialized: boolean;
}

/** Source: pkg/kubelet/kubelet_pods.go getPhase. */
export const podPhase = ({ pod, statuses, podIsTerminal, podHasInitialized }: PodPhaseInput): PodPhase => {
  const tally = [
    ...(pod.spec.initContainers ?? []).flatMap((container) => {
      const status = firstNamed(statuses, container.name);
      return isSidecar(container) ? sidecarMarks(status) : initMarks(pod, container, status);
    }),
    ...pod.spec.containers.flatMap((container) => regularMarks(pod, container, firstNamed(statuses, container.name))),
  ];
  const count = (mark: Mark) => tally.filter((each) => each === mark).length;
  const [running, stopped, succeeded] = [count('running'), count('stopped'), count('succeeded')];
  const allKnown = count('unknown') === 0;

  if (count('failed-init') > 0) return 'Failed';
  if (count('pending-init') > 0 || (count('pending-sidecar') > 0 && !podHasInitialized) || count('waiting') > 0) {
    return 'Pending';
  }
  if (running > 0 && allKnown) return 'Running';
  if (running === 0 && stopped > 0 && allKnown) {
    if (podIsTerminal && !isStaticPod(pod)) return stopped === succeeded ? 'Succeeded' : 'Failed';
    // A container will be started again.
    if (stopped !== count('final')) return 'Running';
    return stopped === succeeded ? 'Succeeded' : 'Failed';
  }
  return 'Pending';
};

/** The contributions of one container to the phase; there may be several. */
type Mark =
  | 'pending-init'
  | 'failed-init'
  | 'pending-sidecar'
  | 'unknown'
  | 'running'
  | 'waiting'
  | 'stopped'
  | 'succeeded'
  /** Stopped without a restart. */
  | 'final';

const initMarks = (pod: Pod, container: Container, status: ContainerStatus | undefined): readonly Mark[] => {
  const ended = status?.state?.terminated ?? (status?.state?.waiting && status.lastState?.terminated);
  if (ended === undefined) return ['pending-init'];
  return ended.exitCode !== 0 && !restartable(pod, container, ended) ? ['failed-init'] : [];
};

const sidecarMarks = (status: ContainerStatus | undefined): readonly Mark[] => {
  if (status === undefined) return ['unknown'];
  const { state, lastState, started } = status;
  if (state?.running) return started ? ['running'] : ['running', 'pending-sidecar'];
  if (state?.terminated) return [];
  if (state?.waiting) return lastState?.terminated ? [] : ['pending-sidecar', 'waiting'];
  return ['pending-sidecar', 'unknown'];
};

const regularMarks = (pod: Pod, container: Container, status: ContainerStatus | undefined): readonly Mark[] => {
  const { state, lastState } = status ?? {};
  if (state?.running) return ['running'];
  if (state?.terminated) {
    return [
      'stopped',
      ...(state.terminated.exitCode === 0 ? (['succeeded'] as const) : []),
      ...(restartable(pod, container, state.terminated) ? [] : (['final'] as const)),
    ];
  }
  if (state?.waiting) {
    const before = lastState?.terminated;
    if (before === undefined) return ['waiting'];
    return restartable(pod, container, before) ? ['stopped'] : ['stopped', 'final'];
  }
  return ['unknown'];
};
