import {
  concat,
  delay,
  exhaustMap,
  from,
  interval,
  map,
  merge,
  mergeMap,
  NEVER,
  Observable,
  of,
  Subject,
  takeUntil,
  timer,
} from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { KubeletPorts } from '../../../src/kubelet-options.js';
import { errorText } from '../../../src/model/cri/cri-error.js';
import { expectSame, kindsOf, playAgent } from './agent-stage.js';

describe('timers', () => {
  it('fire at their times, again and again, or never when they are cancelled', () => {
    const played = playAgent(
      ({ scheduler }) => {
        const stamp = map((value: unknown) => [scheduler.now(), value]);
        const busy$ = interval(10, scheduler).pipe(exhaustMap(() => timer(15, scheduler).pipe(map(() => 'late'))));
        return merge(interval(10, scheduler), busy$, of('soon').pipe(delay(0, scheduler))).pipe(
          stamp,
          takeUntil(timer(45, scheduler)),
        );
      },
      () => ({}),
    );
    expectSame(played);
    expect(played.heard).toEqual([
      ...[
        [1000, 'soon'],
        [1010, 0],
        [1020, 1],
        [1025, 'late'],
        [1030, 2],
      ],
      ...[[1040, 3]],
    ]);
    expect(kindsOf(played).filter((kind) => kind === 'cancelled')).toHaveLength(3);
  });

  it('may be set again before they are due', () => {
    const played = playAgent(
      ({ scheduler }) =>
        new Observable((subscriber) => {
          const action = scheduler.schedule(() => subscriber.next(scheduler.now()), 10);
          (action as unknown as { schedule: (state: unknown, delayMs: number) => void }).schedule(undefined, 30);
          return action;
        }),
      () => ({}),
    );
    expectSame(played);
    expect(played.heard).toEqual([1030]);
  });
});

describe('the clocks of the loop', () => {
  it('stand still while it deals with one input, and go on for any other caller', () => {
    let now = 5000.25;
    let wall = 70_000;
    const read$ = new Subject<string>();
    let ports!: KubeletPorts;
    const played = playAgent(
      (given) => {
        ports ??= given;
        const times = () => [given.scheduler.now(), given.wallClock()];
        return given.podFiles.read('').pipe(
          map(() => {
            const before = times();
            now += 100;
            wall += 100;
            return [before, times()];
          }),
        );
      },
      (scheduler) => ({
        ports: {
          podFiles: { read: () => read$ },
          scheduler: { now: () => now, schedule: scheduler.schedule.bind(scheduler) },
          wallClock: () => wall,
        },
      }),
      () => {
        read$.next('');
        expect([ports.scheduler.now(), ports.wallClock()]).toEqual([5100.25, 70_100]);
        // Set back by an hour.
        wall -= 3_600_000;
        now += 0.125;
        read$.next('');
        // A clock of fractions.
        wall += 0.5;
        read$.next('');
      },
    );
    expectSame(played);
    expect(played.heard).toEqual([
      [
        [5000.25, 70_000],
        [5000.25, 70_000],
      ],
      [
        [5100.375, 70_100 - 3_600_000],
        [5100.375, 70_100 - 3_600_000],
      ],
      [
        [5200.375, 70_200.5 - 3_600_000],
        [5200.375, 70_200.5 - 3_600_000],
      ],
    ]);
  });

  it('need few words where the wall clock only shows whole milliseconds', () => {
    let now = 1_767_225_600_000.1;
    const tick$ = new Subject<number>();
    const played = playAgent(
      ({ podFiles, wallClock, scheduler }) => podFiles.read('').pipe(map(() => [scheduler.now(), wallClock()])),
      () => ({
        ports: {
          podFiles: { read: () => tick$ },
          scheduler: { now: () => now },
          wallClock: () => Math.floor(now + 333.777),
        },
      }),
      () => {
        for (let index = 0; index < 2000; index++) {
          now += ((index * 7919) % 1000) / 7;
          tick$.next(index);
        }
      },
    );
    expectSame(played);
    expect(played.heard).toHaveLength(2000);
    const offsets = played.recording.entries.filter((entry) => 'wallOffset' in entry || 'wall' in entry);
    expect(offsets.length).toBeLessThan(20);
  });
});

describe('the life of an agent', () => {
  it('ends where it is stopped, in the middle of a call', () => {
    const kill$ = new Subject<void>();
    const played = playAgent(
      ({ files, scheduler }) => timer(1, scheduler).pipe(mergeMap(() => files.listDirectory('/x'))),
      () => ({
        ports: {
          files: {
            listDirectory: () =>
              new Observable((subscriber) => {
                kill$.next();
                subscriber.next(['late']);
              }),
          },
        },
      }),
      ({ scheduler, stop }) => {
        kill$.subscribe(stop);
        scheduler.runUntil(2000);
      },
    );
    expectSame(played);
    expect(played.heard).toEqual([]);
    expect(played.result).toMatchObject({ end: 'ended' });
    expect(kindsOf(played)).toEqual(['made', 'started', 'timer', 'fired', 'call', 'ended', 'given-up']);
  });

  it('is one: it cannot be started again', () => {
    const errors: unknown[] = [];
    playAgent(
      () => NEVER,
      () => ({}),
      ({ agent }) => agent.outcome$.subscribe({ error: (error: unknown) => errors.push(errorText(error)) }),
    );
    expect(errors).toEqual(['a recording is one run of an agent; this one was started before']);
  });

  it('does not suffer from what cannot be written', () => {
    const knot: Record<string, unknown> = {};
    knot.knot = knot;
    const played = playAgent(
      ({ podFiles }) => concat(podFiles.read('a'), podFiles.read('b')).pipe(map((value) => typeof value)),
      () => ({ ports: { podFiles: { read: (path: string) => from([path === 'a' ? knot : 'so']) } } }),
    );
    expect(played.heard).toEqual(['object', 'string']);
    expect(played.recording.entries.at(-1)).toEqual({
      kind: 'cut',
      reason: 'something cannot be written: a value contains itself, or is nested more than 200 deep (at knot)',
    });
    expect(played.result).toMatchObject({
      kind: 'same',
      end: 'cut',
      reason: expect.stringContaining('contains itself') as string,
    });
  });

  it('goes on when no subscriber is left', () => {
    let left = 6;
    const played = playAgent(
      ({ scheduler }) => interval(10, scheduler),
      () => ({}),
      ({ scheduler }) => scheduler.runUntil(1050),
      { isOpen: () => left > 0, write: () => (left -= 1) },
    );
    expect(played.heard).toEqual([0, 1, 2, 3, 4]);
    expect(kindsOf(played)).toEqual(['made', 'started', 'timer', 'fired', 'outcome']);
    expect(played.result).toMatchObject({ kind: 'same', end: 'no-more' });
  });
});
