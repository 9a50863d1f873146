import { podDirectory, podPluginsDirectory, podVolumesDirectory } from '../pod/pod-paths.js';
import { EMPTY_DIR_PLUGIN } from './volume-plugin.js';

/**
 * The paths of the volumes of a pod.
 *
 * Source: pkg/kubelet/kubelet_getters.go, k8s.io/utils/strings EscapeQualifiedName
 */
const escapedPlugin = (plugin: string): string => plugin.replaceAll('/', '~');

/** Returns the name of the plugin by the name of its directory. */
export const unescapedPlugin = (directoryName: string): string => directoryName.replaceAll('~', '/');

/** The directory of a volume, which containers mount. */
export const volumeDirectory = (root: string, uid: string, plugin: string, volume: string): string =>
  `${podVolumesDirectory(root, uid)}/${escapedPlugin(plugin)}/${volume}`;

/**
 * The directory of the file `ready` of a volume. The marker of a volume whose files the agent writes has another name
 * than that of an emptyDir. Source: pkg/kubelet/volume_host.go NewWrapperMounter
 */
export const markerDirectory = (root: string, uid: string, plugin: string, volume: string): string =>
  `${podPluginsDirectory(root, uid)}/${escapedPlugin(EMPTY_DIR_PLUGIN)}/` +
  (plugin === EMPTY_DIR_PLUGIN ? volume : `wrapped_${volume}`);

/** The directory of the bind mounts of the sub-paths of all volumes. */
export const podSubPathsDirectory = (root: string, uid: string): string => `${podDirectory(root, uid)}/volume-subpaths`;

/** The directory of the bind mounts of the sub-paths of one volume. */
export const volumeSubPathsDirectory = (root: string, uid: string, volume: string): string =>
  `${podSubPathsDirectory(root, uid)}/${volume}`;

/** The bind mount of one sub-path; `index` is that of the entry in `volumeMounts`. */
export const subPathTarget = (root: string, uid: string, volume: string, container: string, index: number): string =>
  `${volumeSubPathsDirectory(root, uid, volume)}/${container}/${index}`;
