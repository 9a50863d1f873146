import type { NodeBehaviours } from '../behaviour.js';
import type { NodeClock } from '../node-clock.js';
import type { SeededRandom } from '../seeded-random.js';
import type { SimulatedDisk } from '../simulated-disk.js';
import type { SchedulerShare, VirtualScheduler } from '../virtual-scheduler.js';
import type { TellWorld } from '../world-event.js';

/** What everything inside the simulated runtime stands on. */
export interface RuntimeWorld {
  readonly scheduler: VirtualScheduler;
  /** What only goes on while the daemon runs: a new one with each of its lives. Processes go on without it. */
  readonly daemon: () => SchedulerShare;
  readonly clock: NodeClock;
  readonly random: SeededRandom;
  readonly behaviours: NodeBehaviours;
  readonly disk: Pick<SimulatedDisk, 'writeLog' | 'endLog' | 'writeText'>;
  readonly nodeName: string;
  readonly tell: TellWorld;
}
