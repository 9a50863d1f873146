import type { Volume } from '../manifest/volume-defaults.js';
import type { Pod } from '../pod/pod.js';
import { hugePagesMount, isHugePagesMedium } from './huge-pages-medium.js';
import { type MediumFacts, memoryMount } from './memory-medium.js';
import { nestedMountPoints } from './nested-mount-points.js';
import { markerDirectory, volumeDirectory } from './volume-paths.js';
import { unsupportedVolume, volumePluginOf } from './volume-plugin.js';
import type { VolumeMount, VolumeOwnership, VolumeSetup } from './volume-setup.js';

export interface VolumeFacts extends MediumFacts {
  readonly rootDirectory: string;
}

/**
 * Returns how the directory of a volume is set up; undefined for a volume without a directory of the agent: a hostPath
 * or an image.
 *
 * Errors: an unsupported kind or medium; huge pages that the pod does not request.
 * Source: pkg/volume/emptydir/empty_dir.go, and `wrappedVolumeSpec` of the plugins whose files the agent writes
 */
export const volumeSetup = (pod: Pod, volume: Volume, node: VolumeFacts): VolumeSetup | undefined => {
  const plugin = volumePluginOf(volume);
  if (plugin === undefined) throw new Error(unsupportedVolume(volume));
  if (!plugin.hasDirectory) return undefined;
  const { uid } = pod.metadata;
  const mount = mountOf(pod, volume, node);
  const ownership = ownershipOf(pod, plugin.isReadOnly);
  const nested = plugin.isReadOnly ? nestedMountPoints(pod, volume.name) : [];
  return {
    directory: volumeDirectory(node.rootDirectory, uid, plugin.name, volume.name),
    markerDirectory: markerDirectory(node.rootDirectory, uid, plugin.name, volume.name),
    ...(mount && { mount }),
    ...(ownership && { ownership }),
    ...(nested.length > 0 && { nested }),
  };
};

/** A configMap is on disk; the other kinds whose files the agent writes may hold secrets, and are in memory. */
const mountOf = (pod: Pod, { emptyDir, configMap }: Volume, node: VolumeFacts): VolumeMount | undefined => {
  if (configMap) return undefined;
  if (!emptyDir) return memoryMount(pod, undefined, node);
  const { medium = '', sizeLimit } = emptyDir;
  if (medium === '') return undefined;
  if (medium === 'Memory') return memoryMount(pod, sizeLimit, node);
  if (isHugePagesMedium(medium)) return hugePagesMount(pod, medium);
  throw new Error(`unknown storage medium ${JSON.stringify(medium)}`);
};

const ownershipOf = ({ spec }: Pod, readOnly: boolean): VolumeOwnership | undefined => {
  const fsGroup = spec.securityContext?.fsGroup;
  return fsGroup === undefined ? undefined : { fsGroup, readOnly };
};
