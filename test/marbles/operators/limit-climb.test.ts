import { concat, mergeMap, type Observable, range } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { describe, expect, it } from 'vitest';
import { adaptiveLimit } from '../../../src/streams/operators/adaptive-limit.js';
import { sharedServer } from '../../support/shared-server.js';

type Throughput = (underWay: number) => number;

/** What a server can do, by how many calls are under way: a line through these points, and flat after the last one. */
const through =
  (...points: readonly (readonly [number, number])[]): Throughput =>
  (underWay) => {
    const next = points.findIndex(([at]) => at >= underWay);
    const [at, value] = points.at(next) ?? [underWay, 1];
    const [before, valueBefore] = points[next - 1] ?? [0, 0];
    return next < 0 ? value : valueBefore + ((value - valueBefore) * (underWay - before)) / (at - before);
  };

/** What each server does best, and how much longer than that a burst may take while its best is being learned. */
const SERVERS: readonly (readonly [string, Throughput, best: number, atMost: number])[] = [
  [
    'does most of eight to sixteen at a time',
    through([1, 1], [2, 1.35], [4, 1.6], [8, 1.92], [16, 1.92], [110, 1.6]),
    1.92,
    1.05,
  ],
  ['does most of five, and ever less of more', through([1, 1], [5, 5], [25, 1]), 5, 1.25],
  ['has two processors', through([1, 1], [2, 2]), 2, 1.1],
  ['works for one at a time', through([1, 1]), 1, 1.01],
  ['breaks down beyond three', (underWay: number) => (underWay <= 3 ? underWay : 9 / underWay), 3, 1.4],
];

interface Burst {
  /** When every pod had started. */
  readonly endedAt: number;
  /** What there was to do, milliseconds. */
  readonly workMs: number;
  /** Every limit, with when it was set. */
  readonly limits: readonly (readonly [number, number])[];
}

/** Pods that all want to start now, each by three calls that differ a little; the same in every run. */
const burst = (
  pods: number,
  throughput: Throughput,
  later?: readonly [atMs: number, throughput: Throughput],
): Burst => {
  const scheduler = new TestScheduler(() => true);
  const limits: [number, number][] = [];
  let [endedAt, workMs, seed] = [NaN, 0, 7];
  scheduler.run(() => {
    const server = sharedServer(scheduler, throughput);
    const limited = adaptiveLimit({
      scheduler,
      observe: ({ limit }) => {
        if (limits.at(-1)?.[1] !== limit) limits.push([scheduler.now(), limit]);
      },
    });
    const call = (kind: string, rank: number, usualMs: number): Observable<never> => {
      seed = (seed * 16_807) % 2_147_483_647;
      const ms = usualMs * (0.7 + (0.6 * seed) / 2_147_483_647);
      workMs += ms;
      return server.call(ms).pipe(limited<never>({ kind, rank }));
    };
    const pod = () => concat(call('sandbox', 0, 100), call('create', 1, 20), call('start', 2, 40));
    if (later) scheduler.schedule(() => server.change(later[1]), later[0]);
    range(0, pods)
      .pipe(mergeMap(pod))
      .subscribe({ complete: () => (endedAt = scheduler.now()) });
  });
  return { endedAt, workMs, limits };
};

/** The limit in force, averaged over a stretch of time. */
const meanLimit = ({ limits, endedAt }: Burst, from: number, to = endedAt): number => {
  const stretches = limits.map(([at, limit], index) => {
    const until = limits[index + 1]?.[0] ?? endedAt;
    return limit * Math.max(0, Math.min(until, to) - Math.max(at, from));
  });
  return stretches.reduce((sum, one) => sum + one, 0) / (to - from);
};

describe('the limit that is learned, over a server that', () => {
  it.each(SERVERS)('%s: 110 pods start nearly as fast as they can', (_server, throughput, best, atMost) => {
    const { endedAt, workMs } = burst(110, throughput);
    expect(endedAt / (workMs / best)).toBeLessThan(atMost);
  });

  it('does all of any number at once: it doubles until no call waits', () => {
    const { limits } = burst(110, (underWay) => underWay);
    expect(limits.map(([, limit]) => limit)).toEqual([4, 8, 16, 32, 64]);
  });

  it('does less from now on: it falls, and rises again with what the server can do', () => {
    const [much, little] = [through([1, 1], [20, 20], [60, 5]), through([1, 1], [5, 5], [25, 1])];
    const falling = burst(800, much, [4_000, little]);
    expect(meanLimit(falling, 2_000, 4_000)).toBeGreaterThan(15);
    expect(meanLimit(falling, 12_000)).toBeLessThan(8);
    const rising = burst(800, little, [10_000, much]);
    expect(meanLimit(rising, 5_000, 10_000)).toBeLessThan(8);
    expect(meanLimit(rising, 12_000)).toBeGreaterThan(15);
  });
});
