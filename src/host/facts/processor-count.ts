import { availableParallelism, cpus } from 'node:os';

/**
 * The processors of the machine, also those that this process may not run on: a node offers the same number however its agent is
 * confined.
 *
 * Source: vendor/github.com/google/cadvisor/machine/machine.go GetTopology, which reads the machine and not its own affinity
 */
export const processorCount = (): number => cpus().length || availableParallelism();
