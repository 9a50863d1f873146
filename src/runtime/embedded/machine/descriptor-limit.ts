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

/**
 * Returns the shell line that gives a process the soft limit of open files that the agent was started with, from the variable that
 * `bin/rx-kubelet` sets. Node raises its own, and a program such as one with `select` or one that closes every possible
 * descriptor at its start fails or takes long with the limit of Node. Empty where the limit is not known.
 */
export const softLimitLine = (env: NodeJS.ProcessEnv = process.env): string => {
  const limit = env.RX_KUBELET_SOFT_DESCRIPTORS ?? '';
  return /^(\d+|unlimited)$/.test(limit) ? `{ ulimit -S -n ${limit}; } 2>/dev/null` : '';
};
