import {
  asyncScheduler,
  concatMap,
  map,
  type MonoTypeOperatorFunction,
  Observable,
  type SchedulerLike,
  type Subscription,
} from 'rxjs';

export interface Turns {
  /** The total weight of the values of one turn; a value has the weight 1 unless given. */
  readonly most: number;
  /** After this time without a value a new turn begins, in milliseconds; 10 unless given. */
  readonly quietMs?: number;
  readonly scheduler?: SchedulerLike;
}

/**
 * Returns an operator whose subscriptions share turns over all sources: values pass at once, but at most `most` of them in one turn. Others
 * wait, in order of arrival, for the next turn, which comes a hop of the scheduler later. So the work of thousands of values is done in many parts,
 * with other work between them, and the work of a few values at once.
 *
 * Errors: those of the source, at once; its waiting values are dropped.
 * Ends:   with the source, after its last value has passed.
 */
export const inTurns = ({
  most,
  quietMs = 10,
  scheduler = asyncScheduler,
}: Turns): (<T>(weightOf?: (value: T) => number) => MonoTypeOperatorFunction<T>) => {
  const waiting = new Map<() => void, number>();
  let passed = 0;
  let passedAt = -Infinity;
  let hop: Subscription | undefined;
  let isHandingOn = false;

  const pass = (turn: () => void, weight: number): void => {
    passed += weight;
    passedAt = scheduler.now();
    turn();
  };
  /** A loop, not a recursion: a value that passes may cause further values. */
  const handOn = (): void => {
    hop = undefined;
    isHandingOn = true;
    passed = 0;
    for (const [turn, weight] of waiting) {
      if (passed >= most) break;
      waiting.delete(turn);
      pass(turn, weight);
    }
    isHandingOn = false;
    if (waiting.size > 0) hop = scheduler.schedule(handOn);
  };
  const mayPass = (): boolean => {
    if (isHandingOn || waiting.size > 0) return false;
    if (scheduler.now() - passedAt > quietMs) passed = 0;
    return passed < most;
  };

  const turnOf = (weight: number): Observable<void> =>
    new Observable((subscriber) => {
      const turn = (): void => {
        subscriber.next();
        subscriber.complete();
      };
      if (mayPass()) return pass(turn, weight);
      waiting.set(turn, weight);
      if (!isHandingOn) hop ??= scheduler.schedule(handOn);
      return () => {
        waiting.delete(turn);
        if (waiting.size > 0) return;
        hop?.unsubscribe();
        hop = undefined;
      };
    });

  return <T>(weightOf: (value: T) => number = () => 1) =>
    concatMap((value: T) => turnOf(weightOf(value)).pipe(map(() => value)));
};
