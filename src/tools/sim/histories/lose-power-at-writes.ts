import type { SchedulerLike } from 'rxjs';
import type { Fault, PowerFault } from '../faults/fault.js';
import type { DiskPower } from '../disk/simulated-disk.js';
import { type History, HISTORY_START_MS } from './history.js';

type LossAtWrite = Extract<PowerFault, { readonly atWrite: number }>;

/**
 * Counts the writes of the agent to the disk, over all its lives, and loses the power at the counts of the history; never in the quiet at the
 * end. Undefined for a history in which the machine is never off, whose disk loses nothing.
 */
export const losePowerAtWrites = (
  { faults, quietFromMs }: Pick<History, 'faults' | 'quietFromMs'>,
  scheduler: SchedulerLike,
  losePower: (fault: PowerFault) => void,
): DiskPower | undefined => {
  if (!faults.some(({ kind }) => kind === 'power-lost' || kind === 'machine-shuts-down')) return undefined;
  const left = new Map(faults.filter(isAtWrite).map((fault) => [fault.atWrite, fault]));
  const lastMs = HISTORY_START_MS + quietFromMs;
  let writes = 0;
  return {
    atWrite: () => {
      const fault = left.get(++writes);
      if (!fault || scheduler.now() + fault.downMs >= lastMs) return undefined;
      left.delete(writes);
      scheduler.schedule(() => losePower(fault));
      return fault.when;
    },
  };
};

const isAtWrite = (fault: Fault): fault is LossAtWrite => fault.kind === 'power-lost' && 'atWrite' in fault;
