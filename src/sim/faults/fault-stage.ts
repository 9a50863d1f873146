import type { SchedulerLike, Subscription } from 'rxjs';
import type { SeededRandom } from '../seeded-random.js';
import type { Stretch } from './fault.js';

/** Where faults happen. */
export interface FaultStage {
  readonly scheduler: SchedulerLike;
  /** When the history began, by the scheduler. */
  readonly startMs: number;
  readonly random: SeededRandom;
  /** What goes on although nobody waits for it any more; ends with the world. */
  readonly detached: Subscription;
}

/** A fault with draws of its own, which do not depend on what else goes wrong. */
export interface ArmedFault<F> {
  readonly fault: F;
  readonly draw: SeededRandom;
}

export const arm = <F extends object>(faults: readonly F[], { random }: FaultStage): readonly ArmedFault<F>[] =>
  faults.map((fault) => ({ fault, draw: random.fork(JSON.stringify(fault)) }));

/** Whether the fault strikes what comes by now; each question is a draw. */
export const strikes = (
  { fault, draw }: ArmedFault<Stretch & { readonly rate: number }>,
  { scheduler, startMs }: FaultStage,
): boolean => {
  const atMs = scheduler.now() - startMs;
  return atMs >= fault.fromMs && atMs < fault.untilMs && draw.chance(fault.rate);
};
