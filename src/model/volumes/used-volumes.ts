import { containersOf, type Pod } from '../pod/pod.js';
import type { Volume } from '../manifest/volume-defaults.js';

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
