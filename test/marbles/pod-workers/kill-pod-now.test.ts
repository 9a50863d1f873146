import { EMPTY, NEVER, type Observable, type SchedulerLike } from 'rxjs';
import { expect, it } from 'vitest';
import type { KillOptions } from '../../../src/model/pod-workers/pod-update.js';
import { killPodNow } from '../../../src/streams/pod-workers/kill-pod-now.js';
import { aPod } from '../../unit/pods.js';
import { marbles } from '../marbles.js';

/** The request has no cause itself. */
const CAUSE = 'by kill-requested of uid-1 by 0';
const TOO_LATE = new Error('timeout waiting to kill pod');

const stageOf = (scheduler: SchedulerLike, stopped$: Observable<unknown>) => {
  const did: string[] = [];
  const kill = killPodNow({
    requestKill: ({ pod, kill: { graceSeconds }, cause }) =>
      did.push(`${scheduler.now()} kill ${pod.metadata.uid} ${graceSeconds} by ${cause}`),
    record: ({ kind, pod, causes }) => `${kind} of ${pod?.uid} by ${causes.length}`,
    untilStopped: (uid) => {
      did.push(`${scheduler.now()} wait ${uid}`);
      return stopped$;
    },
    recordEvent: ({ type, reason, message, causes }) =>
      did.push(`${scheduler.now()} ${type} ${reason} ${message} <- ${causes.join()}`),
    scheduler,
  });
  return { did, kill };
};

it(
  'a kill is requested first, and complete when the pod has stopped',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler, flush }) => {
    const stopped = cold('  --x-|');
    const expected = '      ----|';
    const { kill, did } = stageOf(scheduler, stopped);
    expectObservable(kill({ pod: aPod(), kill: { graceSeconds: 3 }, reason: 'a test' })).toBe(expected);
    expectSubscriptions(stopped.subscriptions).toBe('^---!');
    flush();
    expect(did).toEqual([`0 kill uid-1 3 ${CAUSE}`, '0 wait uid-1']);
  }),
);

it(
  'a request with an event has it recorded before the kill, with the request as its cause',
  marbles(({ expectObservable, scheduler, flush }) => {
    const { kill, did } = stageOf(scheduler, EMPTY);
    const event = { reason: 'Evicted', message: 'Low.', annotations: { starved_resource: 'memory' } };
    expectObservable(kill({ pod: aPod(), kill: { graceSeconds: 1 }, reason: 'a test', event })).toBe('|');
    flush();
    expect(did.slice(0, 2)).toEqual([
      '0 Warning Evicted Low. <- kill-requested of uid-1 by 0',
      `0 kill uid-1 1 ${CAUSE}`,
    ]);
  }),
);

it.each<[string, number | undefined, KillOptions, string]>([
  ['at least ten seconds', 30, { graceSeconds: 6 }, '10s #'],
  ['one and a half times the grace period of the request', 30, { graceSeconds: 9 }, '13s #'],
  ['one and a half times the own grace period of the pod', 30, {}, '45s #'],
  ['ten seconds for a pod without a grace period', undefined, {}, '10s #'],
])('a pod that does not stop is waited for for %s, and has an event then', (_, own, options, expected) =>
  marbles(({ expectObservable, scheduler, flush }) => {
    const { kill, did } = stageOf(scheduler, NEVER);
    const pod = aPod(own === undefined ? {} : { terminationGracePeriodSeconds: own });
    expectObservable(kill({ pod, kill: options, reason: 'a test' })).toBe(expected, undefined, TOO_LATE);
    flush();
    expect(did.at(-1)).toBe(
      `${scheduler.now()} Warning ExceededGracePeriod Container runtime did not kill the pod within specified grace period. <- kill-requested of uid-1 by 0`,
    );
  })(),
);

it(
  'the event of a late pod does not come after an unsubscription, and each subscription is a kill',
  marbles(({ cold, expectObservable, scheduler, flush }) => {
    const { kill, did } = stageOf(scheduler, cold('-'));
    const kill$ = kill({ pod: aPod(), kill: { graceSeconds: 1 }, reason: 'a test' });
    expectObservable(kill$, '^-!').toBe('--');
    expectObservable(kill$, '---^-!').toBe('---');
    flush();
    expect(did.filter((line) => line.includes('kill'))).toEqual([`0 kill uid-1 1 ${CAUSE}`, `3 kill uid-1 1 ${CAUSE}`]);
    expect(did.filter((line) => line.includes('Exceeded'))).toEqual([]);
  }),
);
