import { expect, it } from 'vitest';
import type { ContainerEventResponse } from '../../src/generated/runtime/v1/api.js';
import { CriError } from '../../src/model/cri-error.js';
import { runtimeHints } from '../../src/streams/runtime-events.js';
import { aSandboxStatus } from '../unit/cri-fixtures.js';
import { inTurn, marbles } from './marbles.js';

const event = (fields: Partial<ContainerEventResponse>): ContainerEventResponse => ({
  containerId: 'c',
  containerEventType: 'CONTAINER_STARTED_EVENT',
  createdAt: 1n,
  podSandboxStatus: undefined,
  containersStatuses: [],
  ...fields,
});
const events = {
  a: event({ podSandboxStatus: aSandboxStatus('a', 's') }),
  b: event({ podSandboxStatus: aSandboxStatus('b', 's') }),
  // The sandbox is gone already, or says nothing of its pod.
  x: event({}),
  y: event({ podSandboxStatus: aSandboxStatus('y', 's', { metadata: undefined }) }),
};
const unimplemented = new CriError('unimplemented', 'GetContainerEvents', 'unknown method');
const broken = new CriError('unavailable', 'GetContainerEvents', 'gone');

it(
  'names the pod of every event that has one',
  marbles(({ cold, expectObservable, scheduler }) => {
    const event$ = cold('    -ax-yba-', events);
    expectObservable(
      runtimeHints(() => event$, { scheduler }),
      '-------!',
    ).toBe('-a---ba-');
  }),
);

it(
  'completes without a word when the runtime has no events',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const event$ = cold<ContainerEventResponse>('--#', undefined, unimplemented);
    expectObservable(runtimeHints(() => event$, { scheduler })).toBe('--|');
    expectSubscriptions(event$.subscriptions).toBe('^-!');
  }),
);

it(
  'opens a stream again that broke or ended, after delays that double to the limit',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const ends$ = cold<ContainerEventResponse>('|');
    const breaks$ = cold<ContainerEventResponse>('#', undefined, broken);
    const event$ = inTurn(breaks$, ends$, breaks$, ends$, cold('a', events));
    const hint$ = runtimeHints(() => event$, { initialDelayMs: 10, maxDelayMs: 40, scheduler });
    expectObservable(hint$, '112ms !').toBe('110ms a');
    expectSubscriptions(breaks$.subscriptions).toBe(['(^!)', '30ms (^!)']);
    expectSubscriptions(ends$.subscriptions).toBe(['10ms (^!)', '70ms (^!)']);
  }),
);

it(
  'stops reconnecting when it is left',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const event$ = cold<ContainerEventResponse>('#', undefined, broken);
    expectObservable(
      runtimeHints(() => event$, { scheduler }),
      '500ms !',
    ).toBe('-');
    expectSubscriptions(event$.subscriptions).toBe(['(^!)']);
  }),
);

it(
  'waits one second, and never more than thirty, unless told otherwise',
  marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
    const event$ = cold<ContainerEventResponse>('#', undefined, broken);
    expectObservable(
      runtimeHints(() => event$, { scheduler }),
      '92s !',
    ).toBe('-');
    const startsAt = [0, 1, 3, 7, 15, 31, 61, 91];
    expectSubscriptions(event$.subscriptions).toBe(startsAt.map((s) => `${s}s (^!)`));
  }),
);

it('calls for the stream only when subscribed', () => {
  let calls = 0;
  runtimeHints(() => {
    calls += 1;
    throw unimplemented;
  });
  expect(calls).toBe(0);
});
