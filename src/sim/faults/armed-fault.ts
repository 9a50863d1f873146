import type { SchedulerLike, Subscription } from 'rxjs';
import type { SeededRandom } from '../seeded-random.js';
import type { Stretch } from './fault.js';

/** Between whom faults happen. */
export interface FaultSide {
  /** Of the agent: what it waits for dies with it. */
  readonly scheduler: SchedulerLike;
  /** When the history began, by the scheduler. */
  readonly startMs: number;
  /** What goes on although nobody waits for it any more; ends with the world. */
  readonly detached: Subscription;
}

/** A fault with draws of its own, which do not depend on what else goes wrong. */
export interface ArmedFault<F> {
  readonly fault: F;
  readonly draw: SeededRandom;
}

export const arm = <F extends object>(faults: readonly F[], random: SeededRandom): readonly ArmedFault<F>[] =>
  faults.map((fault) => ({ fault, draw: random.fork(JSON.stringify(fault)) }));

/** Whether the fault strikes what comes by now, in milliseconds of the history; each question is a draw. */
export const strikes = ({ fault, draw }: ArmedFault<Stretch & { readonly rate: number }>, atMs: number): boolean =>
  atMs >= fault.fromMs && atMs < fault.untilMs && draw.chance(fault.rate);
