import { readIfThere } from './machine.js';

/**
 * The descriptors that the runtime needs for itself, and for each container: its log, the checkpoint of the log, and
 * two raw files.
 */
const OWN_DESCRIPTORS = 64;
const DESCRIPTORS_OF_CONTAINER = 4;
const LOW_BELOW = 4096;

interface DescriptorLimit {
  readonly descriptors: number;
  /** The approximate number of containers that can run with this limit. */
  readonly containers: number;
  readonly isLow: boolean;
}

/** Parses `/proc/self/limits`: the hard limit, to which Node raises the soft one at its start. */
export const parseDescriptorLimit = (limits: string): DescriptorLimit => {
  const hard = /^Max open files\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  const descriptors = hard === undefined ? Number.POSITIVE_INFINITY : Number(hard);
  const containers = Math.max(0, Math.floor((descriptors - OWN_DESCRIPTORS) / DESCRIPTORS_OF_CONTAINER));
  return { descriptors, containers, isLow: descriptors < LOW_BELOW };
};

export const descriptorLimit = (): DescriptorLimit => parseDescriptorLimit(readIfThere('/proc/self/limits') ?? '');
