import type { NodeBehaviours } from '../behaviour.js';
import type { NodeClock } from '../node-clock.js';
import type { SeededRandom } from '../seeded-random.js';
import type { SimulatedDisk } from '../simulated-disk.js';
import type { SchedulerShare, VirtualScheduler } from '../virtual-scheduler.js';
import type { TellWorld } from '../world-event.js';

/** The world of the simulated runtime. */
export interface RuntimeWorld {
  readonly scheduler: VirtualScheduler;
  /** The scheduler of the daemon: a new one with each of its lives. Processes do not use it. */
  readonly daemon: () => SchedulerShare;
  readonly clock: NodeClock;
  readonly random: SeededRandom;
  readonly behaviours: NodeBehaviours;
  readonly disk: Pick<SimulatedDisk, 'writeLog' | 'endLog' | 'writeText' | 'writeInside'>;
  readonly nodeName: string;
  readonly tell: TellWorld;
}
