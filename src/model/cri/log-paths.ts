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

/**
 * The link to a log, `<directory>/<pod>_<namespace>_<container>-<id>.log`, cut so that it fits a file name.
 *
 * Source: pkg/kubelet/kuberuntime/legacy.go logSymlink.
 */
export const containerLogLink = (
  directory: string,
  { name, namespace }: Pick<PodRef, 'name' | 'namespace'>,
  container: string,
  containerId: string,
): string => `${directory}/${`${name}_${namespace}_${container}-${containerId}`.slice(0, 255 - '.log'.length)}.log`;

/**
 * Whose log a link of that name leads to; `undefined` when it does not say so.
 *
 * Source: pkg/kubelet/kuberuntime/legacy.go getContainerIDFromLegacyLogSymlink.
 */
export const containerIdOfLogLink = (name: string): string | undefined => {
  const id = /([^-]*)\.log$/.exec(name)?.[1] ?? '';
  return id.length >= SHORTEST_CONTAINER_ID ? id : undefined;
};

/** Runtimes find a container by that much of its id. */
const SHORTEST_CONTAINER_ID = 6;

/**
 * The restart count of a container of which only logs are left: one more than the highest; 0 when there are none.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go calcRestartCountByLogDir.
 */
export const restartCountFromLogs = (fileNames: readonly string[]): number =>
  Math.max(-1, ...fileNames.map((name) => Number(/^(\d+)\.log(\..*)?$/.exec(name)?.[1] ?? -1))) + 1;
