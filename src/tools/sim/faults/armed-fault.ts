import type { SchedulerLike, Subscription } from 'rxjs';
import type { SeededRandom } from '../world/seeded-random.js';
import type { Stretch } from './fault.js';

/** The world of a fault. */
export interface FaultSide {
  /** The agent's scheduler: its actions end with the agent. */
  readonly scheduler: SchedulerLike;
  /** The begin of the history, by the scheduler. */
  readonly startMs: number;
  /** Keeps subscriptions that the agent has cancelled; ends with the world. */
  readonly detached: Subscription;
}

/** A fault with draws of its own, independent of other faults. */
export interface ArmedFault<F> {
  readonly fault: F;
  readonly draw: SeededRandom;
}

export const arm = <F extends object>(faults: readonly F[], random: SeededRandom): readonly ArmedFault<F>[] =>
  faults.map((fault) => ({ fault, draw: random.fork(JSON.stringify(fault)) }));

/** Whether the fault applies now, in milliseconds of the history; each call is a draw. */
export const strikes = ({ fault, draw }: ArmedFault<Stretch & { readonly rate: number }>, atMs: number): boolean =>
  atMs >= fault.fromMs && atMs < fault.untilMs && draw.chance(fault.rate);
