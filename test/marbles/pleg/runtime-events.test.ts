import { type Observable } from 'rxjs';
import { describe, expect, it } from 'vitest';
import type { ContainerEventResponse } from '../../../src/generated/runtime/v1/api.js';
import { CriError } from '../../../src/model/cri/cri-error.js';
import { type RuntimeEventNews, runtimeEvents } from '../../../src/streams/pleg/runtime-events.js';
import { aSandboxStatus } from '../../unit/cri-fixtures.js';
import { inTurn, marbles } from '../marbles.js';

const event = (fields: Partial<ContainerEventResponse>): ContainerEventResponse => ({
  containerId: 'c',
  containerEventType: 'CONTAINER_STARTED_EVENT',
  createdAt: 7n,
  podSandboxStatus: undefined,
  containersStatuses: [],
  ...fields,
});
const responses = {
  a: event({ podSandboxStatus: aSandboxStatus('a', 's') }),
  b: event({ podSandboxStatus: aSandboxStatus('b', 's') }),
  // The sandbox is gone already, or says nothing of its pod.
  x: event({}),
  y: event({ podSandboxStatus: aSandboxStatus('y', 's', { metadata: undefined }) }),
};
const unimplemented = new CriError('unimplemented', 'GetContainerEvents', 'unknown method');
const gone = new CriError('unavailable', 'GetContainerEvents', 'gone');

const broken = (failures: number, error: unknown = gone): RuntimeEventNews => ({ kind: 'broken', error, failures });
const news: Record<string, RuntimeEventNews> = {
  C: { kind: 'connected' },
  a: { kind: 'event', uid: 'a', createdAt: 7n, isCausedByCall: false },
  b: { kind: 'event', uid: 'b', createdAt: 7n, isCausedByCall: false },
  x: { kind: 'event', uid: 'a', createdAt: 7n, isCausedByCall: true },
  y: { kind: 'event', uid: 'b', createdAt: 7n, isCausedByCall: true },
  1: broken(1),
  2: broken(2),
  3: broken(3),
  4: broken(4),
  5: broken(5),
  6: broken(6),
  7: broken(7),
};

describe('events of the runtime', () => {
  it(
    'name the pod of each that has one; the first of any kind says that the stream is there',
    marbles(({ cold, expectObservable, scheduler }) => {
      const event$ = cold('    -xa-y(ba)-', responses);
      const expected = '       -Ca--(ba)-';
      const unsub = '          ---------!';
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        unsub,
      ).toBe(expected, news);
    }),
  );

  it(
    'report what only happens on a call: containers that are made, sandboxes that are made or start',
    marbles(({ cold, expectObservable, scheduler }) => {
      const ofSandbox = { containerId: 's', podSandboxStatus: aSandboxStatus('a', 's') };
      const ofContainer = { containerId: 'c', podSandboxStatus: aSandboxStatus('b', 's') };
      const all$ = cold('      c---so-dtp-', {
        c: event({ ...ofSandbox, containerEventType: 'CONTAINER_CREATED_EVENT' }),
        s: event({ ...ofSandbox, containerEventType: 'CONTAINER_STARTED_EVENT' }),
        o: event({ ...ofSandbox, containerEventType: 'CONTAINER_STOPPED_EVENT' }),
        d: event({ ...ofContainer, containerEventType: 'CONTAINER_CREATED_EVENT' }),
        t: event({ ...ofContainer, containerEventType: 'CONTAINER_STARTED_EVENT' }),
        p: event({ ...ofContainer, containerEventType: 'CONTAINER_STOPPED_EVENT' }),
      });
      // The first of them says that the stream is there.
      const expected = '       (Cx)xa-ybb-';
      const unsub = '          -----------!';
      expectObservable(
        runtimeEvents(() => all$, scheduler),
        unsub,
      ).toBe(expected, news);
    }),
  );

  it(
    'open one stream only, even when it says something at once',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const event$ = cold('    a--', responses);
      const expected = '       (Ca)';
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        '---!',
      ).toBe(expected, news);
      expectSubscriptions(event$.subscriptions).toBe('^--!');
    }),
  );

  it(
    'a stream that is silent counts as there after a second',
    marbles(({ cold, expectObservable, scheduler }) => {
      const event$ = cold<ContainerEventResponse>('-');
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        '3s !',
      ).toBe('1s C', news);
    }),
  );

  it(
    'a stream that breaks is opened again after 1, 2, 4, 8 and 16 s, then every five minutes',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const event$ = cold<ContainerEventResponse>('#', undefined, gone);
      const expected = '       1 999ms 2 1999ms 3 3999ms 4 7999ms 5 15999ms 6 299999ms 7';
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        '400s !',
      ).toBe(expected, news);
      const startsAt = [0, 1, 3, 7, 15, 31, 331];
      expectSubscriptions(event$.subscriptions).toBe(startsAt.map((s) => `${s}s (^!)`));
    }),
  );

  it(
    'one that ends has broken, too; and one that was there starts the count over',
    marbles(({ cold, expectObservable, scheduler }) => {
      const ends$ = cold<ContainerEventResponse>('|');
      const works$ = cold('-a#', responses, gone);
      const event$ = inTurn<ContainerEventResponse>(ends$, cold('#', undefined, gone), works$, cold('-'));
      const expected = '       e 999ms 2 2000ms (Ca)';
      const ended = broken(1, new Error('the stream of container events ended'));
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        '3002ms !',
      ).toBe(expected, { ...news, e: ended });
    }),
  );

  it(
    'the count of failures and the waits begin again after a stream that was open',
    marbles(({ cold, expectObservable, scheduler }) => {
      const refused$ = cold<ContainerEventResponse>('#', undefined, gone);
      const works$ = cold('-a----#', responses, gone);
      const event$ = inTurn<ContainerEventResponse>(refused$, works$, refused$, cold('-'));
      const expected = '       1 1000ms (Ca)-1 999ms 2';
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        '3s !',
      ).toBe(expected, news);
    }),
  );

  it(
    'a runtime that has none is asked every five minutes only',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const event$ = cold<ContainerEventResponse>('#', undefined, unimplemented);
      expectObservable(
        runtimeEvents(() => event$, scheduler),
        '400s !',
      ).toBe('n 299999ms m', { n: broken(1, unimplemented), m: broken(2, unimplemented) });
      expectSubscriptions(event$.subscriptions).toBe(['(^!)', '300s (^!)']);
    }),
  );

  it('are requested only with a subscriber', () => {
    let calls = 0;
    const refuse = (): Observable<ContainerEventResponse> => {
      calls += 1;
      throw unimplemented;
    };
    runtimeEvents(refuse);
    expect(calls).toBe(0);
  });
});
