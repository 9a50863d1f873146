import type { NodeBehaviours } from '../world/behaviour.js';
import type { NodeClock } from '../world/node-clock.js';
import type { SeededRandom } from '../world/seeded-random.js';
import type { SimulatedDisk } from '../disk/simulated-disk.js';
import type { SchedulerShare, VirtualScheduler } from '../world/virtual-scheduler.js';
import type { TellWorld } from '../world/world-event.js';

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
