import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';

/** What `act` passes at once, and then what passes with each hop of the scheduler. */
export const byHop = (
  act: (scheduler: VirtualScheduler, passed: (value: unknown) => void) => void,
): readonly string[] => {
  const scheduler = new VirtualScheduler();
  const hops = [''];
  act(scheduler, (value) => (hops[hops.length - 1] += String(value)));
  while (scheduler.pending > 0) {
    hops.push('');
    scheduler.step();
  }
  return hops;
};
