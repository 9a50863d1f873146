/**
 * The directory of a pod, `<root>/pods/<uid>`: the files that the agent mounts into its containers.
 *
 * Source: pkg/kubelet/kubelet_getters.go, pkg/kubelet/kubeletconfig/defaults.go
 */
export const podsDirectory = (root: string): string => `${root}/pods`;

export const podDirectory = (root: string, uid: string): string => `${podsDirectory(root)}/${uid}`;

/** The directory of the volumes, each in `<plugin>/<volume>`. */
export const podVolumesDirectory = (root: string, uid: string): string => `${podDirectory(root, uid)}/volumes`;

/** The directory of the data of volume plugins. */
export const podPluginsDirectory = (root: string, uid: string): string => `${podDirectory(root, uid)}/plugins`;

/** The directory of the instances of one container. */
export const podContainerDirectory = (root: string, uid: string, container: string): string =>
  `${podDirectory(root, uid)}/containers/${container}`;

/** The marks of the postStart hooks that have not ended well; each is a directory with the id of its container. */
export const podDueHooksDirectory = (root: string, uid: string): string => `${podDirectory(root, uid)}/due-hooks`;

/** The name of a directory for a container. The id comes from the runtime: no part of it leads out of the directory. */
export const directoryNameOf = (containerId: string): string => encodeURIComponent(containerId).replaceAll('.', '%2E');

/** Returns the names, among those of a directory of marks, that belong to none of these containers. */
export const namesOfOthers = (
  names: readonly string[],
  containers: readonly { readonly id: string }[],
): readonly string[] => {
  const own = new Set(containers.map(({ id }) => directoryNameOf(id)));
  return names.filter((name) => !own.has(name));
};

/** The mark of a container whose start has begun: it holds a directory with the id of the boot. */
export const podBegunStartDirectory = (root: string, uid: string, containerId: string): string =>
  `${podDirectory(root, uid)}/begun-starts/${directoryNameOf(containerId)}`;

/** The marks of the instances that the agent has begun to stop; each is a directory with the id of its container. */
export const podStopsDirectory = (root: string, uid: string): string => `${podDirectory(root, uid)}/stops`;

/** The `/etc/hosts` of all containers of the pod. */
export const podHostsFile = (root: string, uid: string): string => `${podDirectory(root, uid)}/etc-hosts`;

/**
 * The directories that every pod has, outermost first, and their mode. Source: pkg/kubelet/kubelet_pods.go
 * makePodDataDirs
 */
export const podDataDirectories = (root: string, uid: string): readonly string[] => [
  podDirectory(root, uid),
  podVolumesDirectory(root, uid),
  podPluginsDirectory(root, uid),
];
export const POD_DIRECTORY_MODE = 0o750;
