import type { Pod, PodRef } from '../pod/pod.js';

/** `<root>/<namespace>_<name>_<uid>`. Source: pkg/kubelet/kuberuntime/helpers.go BuildPodLogsDirectory. */
export const podLogDirectory = (root: string, pod: Pod | PodRef): string => {
  const { namespace, name, uid } = 'metadata' in pod ? pod.metadata : pod;
  return `${root}/${namespace}_${name}_${uid}`;
};

/** The directory of one container's logs. */
export const containerLogDirectory = (root: string, pod: Pod | PodRef, container: string): string =>
  `${podLogDirectory(root, pod)}/${container}`;

/** Returns the uid in the name of a directory of `podLogDirectory`. */
export const uidOfPodLogDirectory = (name: string): string => name.slice(name.lastIndexOf('_') + 1);

/** The path below the pod's directory: `<container>/<restartCount>.log`. */
export const containerLogPath = (container: string, restartCount: number): string => `${container}/${restartCount}.log`;

/**
 * The link to a log, `<directory>/<pod>_<namespace>_<container>-<id>.log`, cut to the length of a file name.
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
 * Returns the id of the container whose log has a link of this name; `undefined` if the name contains none.
 *
 * Source: pkg/kubelet/kuberuntime/legacy.go getContainerIDFromLegacyLogSymlink.
 */
export const containerIdOfLogLink = (name: string): string | undefined => {
  const id = /([^-]*)\.log$/.exec(name)?.[1] ?? '';
  return id.length >= SHORTEST_CONTAINER_ID ? id : undefined;
};

/** The length of an id's prefix by which runtimes find a container. */
const SHORTEST_CONTAINER_ID = 6;

/**
 * Returns the restart count of a container of which only logs are left: one more than the highest; 0 without logs.
 *
 * Source: pkg/kubelet/kuberuntime/kuberuntime_container.go calcRestartCountByLogDir.
 */
export const restartCountFromLogs = (fileNames: readonly string[]): number =>
  Math.max(-1, ...fileNames.map((name) => Number(/^(\d+)\.log(\..*)?$/.exec(name)?.[1] ?? -1))) + 1;

/** Returns the restart counts of the instances that have a log among these files, rotated or not, the newest first. */
export const instancesWithLogs = (fileNames: readonly string[]): readonly number[] => {
  const counts = fileNames.flatMap((name) => /^(\d+)\.log(?:\..*)?$/.exec(name)?.[1] ?? []).map(Number);
  return [...new Set(counts)].toSorted((one, other) => other - one);
};

/** Returns the pod of a directory of `podLogDirectory`; undefined for another name. */
export const podOfLogDirectory = (directoryName: string): PodRef | undefined => {
  const [, namespace, name, uid] = /^([^_]+)_([^_]+)_([^_]+)$/.exec(directoryName) ?? [];
  return namespace === undefined || name === undefined || uid === undefined ? undefined : { namespace, name, uid };
};
