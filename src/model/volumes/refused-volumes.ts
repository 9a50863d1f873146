import type { Pod } from '../pod/pod.js';
import { usedVolumes } from './used-volumes.js';
import { unsupportedKind, unsupportedVolume } from './volume-plugin.js';
import { mountWaitText } from './volume-texts.js';

/** A volume of a kind that this agent does not support. */
export interface RefusedVolume {
  readonly name: string;
  /** Such as `volumes of kind nfs are not supported by this agent`. */
  readonly problem: string;
}

/** Returns the volumes on which no container of the pod starts, in the order of the spec. */
export const refusedVolumes = (pod: Pod): readonly RefusedVolume[] =>
  usedVolumes(pod).flatMap((volume) => {
    const problem = unsupportedKind(volume);
    return problem === undefined ? [] : [{ name: volume.name, problem }];
  });

/**
 * Returns the error of the wait for such volumes, with the reason for each of them; undefined for a pod without any.
 *
 * Source: pkg/kubelet/volumemanager/volume_manager.go verifyVolumesMountedFunc
 */
export const volumesRefusal = (pod: Pod): string | undefined => {
  const names = refusedVolumes(pod).map(({ name }) => name);
  if (names.length === 0) return undefined;
  const problems = usedVolumes(pod).flatMap((volume) => unsupportedVolume(volume) ?? []);
  return mountWaitText({ unmounted: names, unattached: [], unprocessed: names }, problems.join('; '));
};
