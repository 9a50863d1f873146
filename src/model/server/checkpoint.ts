import type { Pod } from '../pod/pod.js';

/**
 * Returns the name of the file of a checkpoint; `now` is Unix milliseconds.
 *
 * Source: pkg/kubelet/kubelet.go CheckpointContainer
 */
export const checkpointName = ({ metadata }: Pod, container: string, now: number): string => {
  const time = new Date(now).toISOString().replace(/\.\d+Z$/, 'Z');
  return `checkpoint-${metadata.name}_${metadata.namespace}-${container}-${time}.tar`;
};

/** Returns the last timeout of a query in seconds, 0 without one; undefined for anything but a whole number. */
export const checkpointTimeout = (values: readonly string[]): number | undefined => {
  const last = values.at(-1);
  if (last === undefined) return 0;
  return /^[+-]?\d{1,15}$/.test(last) ? Number(last) : undefined;
};
