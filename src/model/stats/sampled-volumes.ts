import type { Pod } from '../pod/pod.js';
import { volumeDirectory } from '../volumes/volume-paths.js';
import { volumePluginOf } from '../volumes/volume-plugin.js';

export interface SampledVolume {
  readonly name: string;
  readonly path: string;
  readonly isEphemeral: boolean;
}

/**
 * Returns the volumes of a pod whose space counts: those with a directory of the agent. A host path is no volume of the pod alone.
 *
 * Source: pkg/volume/util/util.go IsLocalEphemeralVolume, `GetMetrics` of each plugin
 */
export const sampledVolumes = (rootDirectory: string, { metadata, spec }: Pod): readonly SampledVolume[] =>
  (spec.volumes ?? []).flatMap((volume) => {
    const plugin = volumePluginOf(volume);
    if (!plugin?.hasDirectory) return [];
    const path = volumeDirectory(rootDirectory, metadata.uid, plugin.name, volume.name);
    const isEphemeral = volume.configMap !== undefined || (volume.emptyDir !== undefined && !volume.emptyDir.medium);
    return [{ name: volume.name, path, isEphemeral }];
  });
