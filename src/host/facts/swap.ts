import { parseMemoryInfo } from '../../model/stats/proc-files.js';
import { isSwapOn } from '../../model/node/swaps.js';
import { readIfThere } from '../files/read-if-there.js';

/** Bytes of swap of this machine; 0 for none. */
export const totalSwap = (): number => parseMemoryInfo(readIfThere('/proc/meminfo') ?? '')?.swapTotal ?? 0;

/** Whether this machine swaps. */
export const machineSwaps = (): boolean => isSwapOn(readIfThere('/proc/swaps') ?? '');
