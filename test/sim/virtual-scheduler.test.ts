import fc from 'fast-check';
import {
  concat,
  debounceTime,
  delay,
  exhaustMap,
  interval,
  map,
  merge,
  mergeMap,
  type MonoTypeOperatorFunction,
  type Observable,
  of,
  repeat,
  retry,
  type SchedulerLike,
  switchMap,
  take,
  throttleTime,
  throwError,
  timeout,
  timer,
} from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../src/tools/sim/world/seeded-random.js';
import { VirtualScheduler } from '../../src/tools/sim/world/virtual-scheduler.js';

/** What is done when, as `<ms> <what>`. */
const diary = (options: ConstructorParameters<typeof VirtualScheduler>[0] = { startMs: 0 }) => {
  const scheduler = new VirtualScheduler(options);
  const lines: string[] = [];
  return { scheduler, lines, note: (what: string) => () => void lines.push(`${scheduler.now()} ${what}`) };
};

describe('VirtualScheduler', () => {
  it('does what is due in the order of time, and what is due at once in the order in which it came', () => {
    const { scheduler, lines, note } = diary();
    scheduler.schedule(note('c'), 5);
    scheduler.schedule(note('a'), 2);
    scheduler.schedule(note('d'), 5);
    scheduler.schedule(note('b'), 2);
    scheduler.schedule(note('first'));
    scheduler.runUntil(10);
    expect(lines).toEqual(['0 first', '2 a', '2 b', '5 c', '5 d']);
    expect(scheduler.now()).toBe(10);
  });

  it('stops at the given time, with the rest still waiting', () => {
    const { scheduler, lines, note } = diary();
    scheduler.schedule(note('in'), 10);
    scheduler.schedule(note('out'), 11);
    scheduler.runUntil(10);
    expect(lines).toEqual(['10 in']);
    expect(scheduler.pending).toBe(1);
    expect(scheduler.nextAt).toBe(11);
  });

  it('never turns back: what is due in the past is done now', () => {
    const { scheduler, lines, note } = diary();
    scheduler.runUntil(100);
    scheduler.schedule(note('late'), -50);
    scheduler.runUntil(50);
    expect(lines).toEqual([]);
    scheduler.runUntil(100);
    expect(lines).toEqual(['100 late']);
  });

  it('does not do what was cancelled, nor count it', () => {
    const { scheduler, lines, note } = diary();
    const action = scheduler.schedule(note('never'), 5);
    scheduler.schedule(note('other'), 6);
    action.unsubscribe();
    action.unsubscribe();
    expect(scheduler.pending).toBe(1);
    scheduler.runUntil(10);
    expect(lines).toEqual(['6 other']);
    expect(scheduler.pending).toBe(0);
  });

  it('does an action once more, with another state, when it asks for it', () => {
    const { scheduler, lines } = diary();
    scheduler.schedule<number>(
      function (count = 0) {
        lines.push(`${scheduler.now()} ${count}`);
        if (count < 3) this.schedule(count + 1, 10);
      },
      1,
      0,
    );
    scheduler.runUntil(100);
    expect(lines).toEqual(['1 0', '11 1', '21 2', '31 3']);
    expect(scheduler.pending).toBe(0);
  });

  it('puts an action off that is scheduled again before it is due', () => {
    const { scheduler, lines } = diary();
    let again!: () => void;
    scheduler.schedule(function () {
      lines.push(`${scheduler.now()} done`);
      again = () => this.schedule(undefined, 5);
    }, 1);
    scheduler.runUntil(1);
    again();
    scheduler.runUntil(3);
    again();
    scheduler.runUntil(100);
    expect(lines).toEqual(['1 done', '8 done']);
  });

  it('lets errors of actions out, and goes on with the others', () => {
    const { scheduler, lines, note } = diary();
    scheduler.schedule(() => {
      throw new Error('broken');
    }, 1);
    scheduler.schedule(note('next'), 1);
    expect(() => scheduler.runUntil(5)).toThrow('broken');
    scheduler.runUntil(5);
    expect(lines).toEqual(['1 next']);
  });

  it('says so when time stands still', () => {
    const { scheduler } = diary();
    scheduler.schedule(function () {
      this.schedule(undefined, 0);
    }, 7);
    expect(() => scheduler.runUntil(10)).toThrow('time stands still at 7 ms');
  });

  it('keeps a million ticks flat', () => {
    const { scheduler } = diary();
    const limit = Error.stackTraceLimit;
    Error.stackTraceLimit = Infinity;
    const depths: number[] = [];
    let ticks = 0;
    interval(1000, scheduler).subscribe(() => {
      ticks += 1;
      if (ticks % 100_000 === 0) depths.push(new Error('here').stack!.split('\n').length);
    });
    scheduler.runUntil(1_000_000_000);
    Error.stackTraceLimit = limit;
    expect(ticks).toBe(1_000_000);
    expect(new Set(depths).size).toBe(1);
    expect(scheduler.pending).toBe(1);
  });

  it('does not gather timers that were cancelled long before they are due', () => {
    const { scheduler } = diary();
    for (let round = 0; round < 100_000; round++) scheduler.schedule(() => undefined, 1e9).unsubscribe();
    scheduler.schedule(() => undefined, 5);
    expect(scheduler.pending).toBe(1);
    expect(scheduler.nextAt).toBe(5);
  });

  describe('ties', () => {
    const meet = (seed: number) => {
      const { scheduler, lines, note } = diary({ startMs: 0, tieBreak: seededRandom(seed).next });
      // Timers that were set at different times, and meet.
      for (let start = 0; start < 5; start++)
        scheduler.schedule(() => scheduler.schedule(note(`t${start}`), 10 - start), start);
      scheduler.schedule(() => {
        scheduler.schedule(note('x'), 1);
        scheduler.schedule(note('y'), 1);
        scheduler.schedule(note('z'), 1);
      }, 9);
      scheduler.runUntil(20);
      return lines;
    };
    const orders = Array.from({ length: 200 }, (_, seed) => meet(seed));

    it('draws the order of timers that meet', () => {
      const firsts = new Set(orders.map(([first]) => first));
      expect([...firsts].sort()).toEqual(['10 t0', '10 t1', '10 t2', '10 t3', '10 t4', '10 x']);
    });

    it('keeps the order of those that were set at one instant for equally long', () => {
      for (const order of orders) {
        const own = order.filter((line) => /[xyz]/.test(line));
        expect(own).toEqual(['10 x', '10 y', '10 z']);
      }
    });

    it('draws the same for the same seed', () => {
      expect(meet(7)).toEqual(orders[7]);
    });
  });

  describe('share', () => {
    it('is part of the same time, and counts what waits in it', () => {
      const { scheduler, lines, note } = diary();
      const share = scheduler.share();
      share.schedule(note('shared'), 5);
      scheduler.schedule(note('own'), 5);
      const cancelled = share.schedule(note('cancelled'), 5);
      expect([share.pending, scheduler.pending]).toEqual([2, 3]);
      cancelled.unsubscribe();
      expect([share.pending, scheduler.pending]).toEqual([1, 2]);
      scheduler.runUntil(5);
      expect(lines).toEqual(['5 shared', '5 own']);
      expect([share.pending, scheduler.pending, share.now()]).toEqual([0, 0, 5]);
    });

    it('is gone as a whole when it is closed, and nothing else is', () => {
      const { scheduler, lines, note } = diary();
      const share = scheduler.share();
      interval(3, share).subscribe(note('tick'));
      const action = share.schedule(note('later'), 7);
      scheduler.schedule(note('own'), 8);
      scheduler.runUntil(6);
      share.close();
      expect([share.pending, scheduler.pending]).toEqual([2, 1]);
      // What was dropped can be taken back as if nothing had happened.
      action.unsubscribe();
      action.unsubscribe();
      expect([share.pending, scheduler.pending]).toEqual([1, 1]);
      expect(share.schedule(note('too late')).closed).toBe(true);
      share.close();
      scheduler.runUntil(20);
      expect(lines).toEqual(['3 tick', '6 tick', '8 own']);
      expect(scheduler.pending).toBe(0);
    });

    it('lets an action that closes it end in peace', () => {
      const { scheduler, lines, note } = diary();
      const share = scheduler.share();
      share.schedule(function () {
        share.close();
        this.schedule(undefined, 1);
        note('last')();
      }, 2);
      scheduler.runUntil(10);
      expect(lines).toEqual(['2 last']);
      expect(scheduler.pending).toBe(0);
    });
  });

  it('agrees with the TestScheduler of rxjs, with any operators', () => {
    fc.assert(
      fc.property(fc.array(aStep, { minLength: 1, maxLength: 6 }), aSource, (steps, source) => {
        const ours = diary();
        const [own$] = streamOf(source, steps, ours.scheduler);
        const own = heard(own$, ours.scheduler, () => ours.scheduler.runUntil(10_000));
        const theirs = new TestScheduler(() => undefined);
        theirs.maxFrames = 10_000;
        const [their$] = streamOf(source, steps, theirs);
        expect(own).toEqual(heard(their$, theirs, () => theirs.flush()));
      }),
      { numRuns: 2000 },
    );
  });
});

type Step = readonly [kind: number, ms: number];
const aStep = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 })) satisfies fc.Arbitrary<Step>;
const aSource = fc.array(fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 1, max: 4 })), {
  minLength: 1,
  maxLength: 3,
});

/** Values at times, through operators that wait. */
const streamOf = (
  source: readonly (readonly [number, number])[],
  steps: readonly Step[],
  scheduler: SchedulerLike,
): readonly [Observable<string>] => {
  const values$ = merge(
    ...source.map(([start, count], index) =>
      timer(start, 3, scheduler).pipe(
        take(count),
        map((tick) => `${index}.${tick}`),
      ),
    ),
  );
  return [steps.reduce((value$, step) => value$.pipe(operatorOf(step, scheduler)), values$)];
};

const operatorOf = ([kind, ms]: Step, scheduler: SchedulerLike): MonoTypeOperatorFunction<string> => {
  const later = (value: string) => timer(ms, scheduler).pipe(map(() => `${value}'`));
  switch (kind) {
    case 0:
      return delay(ms, scheduler);
    case 1:
      return debounceTime(ms, scheduler);
    case 2:
      return throttleTime(ms, scheduler, { leading: true, trailing: true });
    case 3:
      return switchMap(later);
    case 4:
      return exhaustMap(later);
    case 5:
      return mergeMap(later, 2);
    case 6:
      return (value$) => value$.pipe(repeat({ count: 2, delay: () => timer(ms, scheduler) }));
    case 7:
      return (value$) =>
        concat(
          value$,
          throwError(() => new Error('again')),
        ).pipe(retry({ count: 1, delay: () => timer(ms, scheduler) }));
    case 8:
      return timeout({ each: ms + 1, scheduler, with: () => of('late') });
    default:
      return (value$) =>
        merge(
          value$,
          interval(ms + 1, scheduler).pipe(
            take(2),
            map((tick) => `${tick}`),
          ),
        );
  }
};

const heard = (value$: Observable<string>, scheduler: SchedulerLike, run: () => void): readonly string[] => {
  const lines: string[] = [];
  const subscription = value$.subscribe({
    next: (value) => lines.push(`${scheduler.now()} ${value}`),
    error: (error: unknown) => lines.push(`${scheduler.now()} error ${String(error)}`),
    complete: () => lines.push(`${scheduler.now()} end`),
  });
  run();
  subscription.unsubscribe();
  return lines;
};
