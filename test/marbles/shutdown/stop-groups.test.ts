import { defer, EMPTY, type Observable, type SchedulerLike } from 'rxjs';
import { expect, it } from 'vitest';
import type { ShutdownGroup } from '../../../src/model/shutdown/shutdown-groups.js';
import { stopGroups } from '../../../src/streams/shutdown/stop-groups.js';
import { aPod } from '../../unit/pods.js';
import { marbles } from '../marbles.js';

const low = aPod({ priority: 10 }, { uid: 'low', name: 'low' });
const other = aPod({ priority: 20, terminationGracePeriodSeconds: 1 }, { uid: 'other', name: 'other' });
const high = aPod({ priority: 2_000_000_000 }, { uid: 'high', name: 'high' });
const GROUPS: readonly ShutdownGroup[] = [
  { priority: 0, graceSeconds: 2 },
  { priority: 2_000_000_000, graceSeconds: 3 },
];

type Ends = Readonly<Record<string, Observable<unknown>>>;

/** The pods stop, and their volumes are unmounted, as the Observables of their uids say; at once without one. */
const stageOf = (scheduler: SchedulerLike, stops: Ends, unmounts: Ends = {}) => {
  const did: string[] = [];
  const note = (what: string): number => did.push(`${scheduler.now()} ${what}`);
  const say = (fields: object, message: string): number => note(`${message} ${JSON.stringify(fields)}`);
  const ports = {
    stopPod: ({ metadata: { uid } }: typeof low, graceSeconds: number) =>
      defer(() => {
        note(`stop ${uid} ${graceSeconds}`);
        return stops[uid] ?? EMPTY;
      }),
    untilUnmounted: ({ metadata: { uid } }: typeof low) => {
      note(`unmount ${uid}`);
      return unmounts[uid] ?? EMPTY;
    },
    log: { debug: say, info: () => undefined, warn: say, error: say },
    scheduler,
  };
  return { did, ports };
};

it(
  'groups are stopped one after the other, and the pods of a group side by side',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler, flush }) => {
    const stopLow = cold('  --|');
    const stopOther = cold('-----|');
    const stopHigh = cold('      ---|');
    const expected = '      -----   ---|'.replaceAll(' ', '');
    const { did, ports } = stageOf(scheduler, { low: stopLow, other: stopOther, high: stopHigh });
    expectObservable(stopGroups(GROUPS, [high, low, other], ports)).toBe(expected);
    expectSubscriptions(stopLow.subscriptions).toBe('  ^-!');
    expectSubscriptions(stopOther.subscriptions).toBe('^----!');
    expectSubscriptions(stopHigh.subscriptions).toBe(' -----^--!');
    flush();
    expect(did).toEqual([
      ...['0 stop low 2', '0 stop other 1', '5 unmount low', '5 unmount other'],
      ...['5 stop high 3', '8 unmount high'],
    ]);
  }),
);

it(
  'the next group begins when the volumes of all pods are unmounted, which begins when all have stopped',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const stopLow = cold('   --|');
    const unmountLow = cold('     ---|');
    const unmountOther = cold('   -----|');
    const stopHigh = cold('            -|');
    const expected = '       --   -----  -|'.replaceAll(' ', '');
    const { ports } = stageOf(scheduler, { low: stopLow, high: stopHigh }, { low: unmountLow, other: unmountOther });
    expectObservable(stopGroups(GROUPS, [low, other, high], ports)).toBe(expected);
    expectSubscriptions(unmountLow.subscriptions).toBe('  --^--!');
    expectSubscriptions(unmountOther.subscriptions).toBe('--^----!');
    expectSubscriptions(stopHigh.subscriptions).toBe('    -------^!');
  }),
);

it(
  'the next group begins after the seconds of the group, although a pod has not stopped',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler, flush }) => {
    const stopLow = cold(' ------|');
    const stopOther = cold('-');
    const stopHigh = cold(' -');
    const expected = '      5s |';
    const { did, ports } = stageOf(scheduler, { low: stopLow, other: stopOther, high: stopHigh });
    expectObservable(stopGroups(GROUPS, [low, other, high], ports)).toBe(expected);
    expectSubscriptions(stopOther.subscriptions).toBe('^ 1999ms !');
    expectSubscriptions(stopHigh.subscriptions).toBe(' 2s ^ 2999ms !');
    flush();
    const over = 'the time of a group of pods is over, and the next one is stopped';
    expect(did.filter((line) => line.includes(over))).toEqual([
      `2000 ${over} {"priority":0,"graceSeconds":2,"waitsFor":["other_default(other)"]}`,
      `5000 ${over} {"priority":2000000000,"graceSeconds":3,"waitsFor":["high_default(high)"]}`,
    ]);
  }),
);

it(
  'the seconds of a group are for the pods and their volumes together',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const unmountLow = cold('-');
    const expected = '       2s |';
    const { ports } = stageOf(scheduler, { low: cold('1500ms |') }, { low: unmountLow });
    expectObservable(stopGroups(GROUPS, [low], ports)).toBe(expected);
    expectSubscriptions(unmountLow.subscriptions).toBe('1500ms ^ 499ms !');
  }),
);

it(
  'a group of 0 seconds is stopped and not waited for',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const groups = [{ priority: 0, graceSeconds: 0 }, ...GROUPS.slice(1)];
    const { did, ports } = stageOf(scheduler, { low: cold('-'), high: cold('----|') });
    expectObservable(stopGroups(groups, [low, high], ports)).toBe('----|');
    flush();
    expect(did.filter((line) => line.includes(' stop '))).toEqual(['0 stop low 0', '0 stop high 3']);
  }),
);

it(
  'a group without pods takes no time, and neither does a node without pods',
  marbles(({ cold, expectObservable, scheduler }) => {
    const { ports } = stageOf(scheduler, { high: cold('--|') });
    expectObservable(stopGroups(GROUPS, [high], ports)).toBe('--|');
    expectObservable(stopGroups(GROUPS, [], ports)).toBe('|');
  }),
);

it(
  'a pod that cannot be stopped or unmounted is logged, and the others are waited for',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const stops = { low: cold('-#', undefined, new Error('late')), other: cold('---|') };
    const { did, ports } = stageOf(scheduler, stops, {
      low: cold('-#', undefined, new Error('busy')),
      other: cold('--|'),
    });
    expectObservable(stopGroups(GROUPS, [low, other], ports)).toBe('-----|');
    flush();
    expect(did).toEqual([
      ...['0 stop low 2', '0 stop other 1'],
      '1 a pod has not stopped in the time of its group {"pod":"low_default(low)","error":"late"}',
      ...['3 unmount low', '3 unmount other'],
      '4 the volumes of a stopped pod are not unmounted {"pod":"low_default(low)","error":"busy"}',
    ]);
  }),
);
