import { defer, EMPTY, type Observable, type SchedulerLike } from 'rxjs';
import { expect, it } from 'vitest';
import type { ShutdownGroup } from '../../../src/model/shutdown/shutdown-groups.js';
import type { KillOptions, KillRequest } from '../../../src/model/pod-workers/pod-update.js';
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
  const kills = new Map<string, KillOptions>();
  const note = (what: string): number => did.push(`${scheduler.now()} ${what}`);
  const say = (fields: object, message: string): number => note(`${message} ${JSON.stringify(fields)}`);
  const ports = {
    killPod: ({ pod, kill }: KillRequest) =>
      defer(() => {
        const { uid } = pod.metadata;
        note(`kill ${uid} ${kill.graceSeconds}`);
        kills.set(uid, kill);
        return stops[uid] ?? EMPTY;
      }),
    untilUnmounted: ({ metadata: { uid } }: typeof low) => {
      note(`unmount ${uid}`);
      return unmounts[uid] ?? EMPTY;
    },
    log: { debug: say, info: () => undefined, warn: say, error: say },
    scheduler,
    wallClock: () => Date.parse('2026-01-01T00:00:00Z') + scheduler.now(),
  };
  return { did, kills, ports };
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
      ...['0 kill low 2', '0 kill other 1', '5 unmount low', '5 unmount other'],
      ...['5 kill high 3', '8 unmount high'],
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
    const over = 'the time of a group of pods is over, and the shutdown of the node goes on';
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
    expect(did.filter((line) => line.includes(' kill '))).toEqual(['0 kill low 0', '0 kill high 3']);
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
      ...['0 kill low 2', '0 kill other 1'],
      '1 a pod has not stopped for the shutdown of the node {"pod":"low_default(low)","error":"late"}',
      ...['3 unmount low', '3 unmount other'],
      '4 the volumes of a stopped pod are not unmounted {"pod":"low_default(low)","error":"busy"}',
    ]);
  }),
);

it(
  'a pod is stopped with the status of the shutdown, at the time of its own stop, and is not evicted',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const { kills, ports } = stageOf(scheduler, { low: cold('1s |') });
    expectObservable(stopGroups(GROUPS, [low, high], ports)).toBe('1s |');
    flush();
    const statuses = ['low', 'high'].map((uid) => kills.get(uid)?.statusOverride?.({ phase: 'Running' }));
    expect(statuses.map((status) => status?.conditions?.[0]?.lastTransitionTime)).toEqual([
      '2026-01-01T00:00:00Z',
      '2026-01-01T00:00:01Z',
    ]);
    expect(statuses.map((status) => [status?.phase, status?.reason])).toEqual([
      ['Failed', 'Terminated'],
      ['Failed', 'Terminated'],
    ]);
    expect([...kills.values()].map(({ evict }) => evict)).toEqual([undefined, undefined]);
  }),
);
