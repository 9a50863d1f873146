import type { Pod, PodRef } from '../pod.js';

/** `<root>/<namespace>_<name>_<uid>`. Source: pkg/kubelet/kuberuntime/helpers.go BuildPodLogsDirectory. */
export const podLogDirectory = (root: string, pod: Pod | PodRef): string => {
  const { namespace, name, uid } = 'metadata' in pod ? pod.metadata : pod;
  return `${root}/${namespace}_${name}_${uid}`;
};

/** The directory of one container's logs. */
export const containerLogDirectory = (root: string, pod: Pod | PodRef, container: string): string =>
  `${podLogDirectory(root, pod)}/${container}`;

/** The uid of a directory that `podLogDirectory` named. */
export const uidOfPodLogDirectory = (name: string): string => name.slice(name.lastIndexOf('_') + 1);

/** Below the pod's directory: `<container>/<restartCount>.log`. */
export const containerLogPath = (container: string, restartCount: number): string => `${container}/${restartCount}.log`;

/** The link to a log, cut so that it fits a file name. Source: pkg/kubelet/kuberuntime/legacy.go logSymlink. */
export const containerLogLink = (pod: Pod, container: string, containerId: string): string =>
  `${`${pod.metadata.name}_${pod.metadata.namespace}_${container}-${containerId}`.slice(0, 255 - '.log'.length)}.log`;

/**
 * The restart count of a container of which only logs are left: one more than the highest; 0 when there are none.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go calcRestartCountByLogDir.
 */
export const restartCountFromLogs = (fileNames: readonly string[]): number =>
  Math.max(-1, ...fileNames.map((name) => Number(/^(\d+)\.log(\..*)?$/.exec(name)?.[1] ?? -1))) + 1;
