import { type Container, containersOf, type EphemeralContainer, type Pod } from '../pod/pod.js';
import type { Volume } from '../manifest/volume-defaults.js';
import { volumePluginOf } from './volume-plugin.js';

/**
 * Returns the volumes of a pod that a container of any kind uses, in the order of the spec. The agent ignores the
 * others. Source: pkg/volume/util/util.go GetPodVolumeNames
 */
export const usedVolumes = (pod: Pod): readonly Volume[] => {
  const used = usedVolumeNames(pod);
  return (pod.spec.volumes ?? []).filter(({ name }) => used.has(name));
};

/** Returns the names in `volumeMounts` and `volumeDevices` of all containers, each once. */
export const usedVolumeNames = (pod: Pod): ReadonlySet<string> =>
  new Set(
    containersOf(pod).flatMap(({ container: { volumeMounts = [], volumeDevices = [] } }) =>
      [...volumeMounts, ...volumeDevices].map(({ name }) => name),
    ),
  );

/**
 * Returns the names of the volumes that a container mounts and whose files follow objects, in the order of the spec: these files may have
 * changed since the volume was set up.
 */
export const mountedVolumesSetUpAgain = (
  pod: Pod,
  { volumeMounts = [] }: Pick<Container | EphemeralContainer, 'volumeMounts'>,
): readonly string[] => {
  const mounted = new Set(volumeMounts.map(({ name }) => name));
  return (pod.spec.volumes ?? [])
    .filter((volume) => mounted.has(volume.name) && volumePluginOf(volume)?.isSetUpAgain === true)
    .map(({ name }) => name);
};
