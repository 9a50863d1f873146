import { describe, expect, it } from 'vitest';
import { type ApiEvent, apiEvent, type EventFact } from '../../../src/model/events/api-event.js';
import { EventCorrelator } from '../../../src/model/events/event-correlator.js';
import { aPod } from '../../support/a-pod.js';

const SECOND = 1_000;
const pod = aPod();
const named = (uid: string) => aPod({ uid, name: uid });

let serial = 0n;
const event = (fact: Partial<EventFact> = {}): ApiEvent => {
  serial += 1_000_000_000n;
  const complete: EventFact = { pod, type: 'Normal', reason: 'Pulled', message: 'done', ...fact };
  return apiEvent(complete, { nodeName: 'node-1', nanoseconds: serial });
};

/** What stands of an event in a table: its message and how often it occurred, or that it is not sent. */
const told = (correlator: EventCorrelator, fact: Partial<EventFact>, now = 0): string => {
  const correlated = correlator.correlate(event(fact), now);
  return correlated ? `${correlated.event.count} ${correlated.event.message}` : 'not sent';
};

describe('an event that comes again', () => {
  it('is the first one with a higher count and a later time', () => {
    const correlator = new EventCorrelator();
    const first = event();
    const again = event();
    expect(correlator.correlate(first, 0)?.event).toEqual(first);
    expect(correlator.correlate(again, 0)?.event).toEqual({
      ...again,
      metadata: first.metadata,
      firstTimestamp: first.firstTimestamp,
      count: 2,
    });
    expect(again.lastTimestamp).not.toBe(first.lastTimestamp);
  });

  it('has the same key, by which it is known whether the API server has it', () => {
    const correlator = new EventCorrelator();
    const first = correlator.correlate(event(), 0)?.key ?? '';
    const other = correlator.correlate(event({ message: 'other' }), 0)?.key ?? '';
    expect(correlator.isWritten(first)).toBe(false);
    correlator.written(first);
    expect(correlator.correlate(event(), 0)?.key).toBe(first);
    expect([correlator.isWritten(first), correlator.isWritten(other)]).toEqual([true, false]);
    correlator.written('of nothing');
    expect(correlator.isWritten('of nothing')).toBe(false);
  });

  it.each<[string, Partial<EventFact>]>([
    ['the pod', { pod: named('other') }],
    ['the container', { container: 'main' }],
    ['the type', { type: 'Warning' }],
    ['the reason', { reason: 'Pulling' }],
    ['the message', { message: 'other' }],
    ['being about the node', { pod: undefined }],
  ])('is another one by %s', (_, differing) => {
    const correlator = new EventCorrelator();
    told(correlator, {});
    expect(told(correlator, differing)).toMatch(/^1 /);
    expect(told(correlator, {})).toMatch(/^2 /);
  });
});

describe('similar events', () => {
  const similar = (correlator: EventCorrelator, from: number, to: number, now = 0, fact: Partial<EventFact> = {}) =>
    Array.from({ length: to - from + 1 }, (_, index) =>
      told(correlator, { ...fact, message: `m${from + index}` }, now),
    );

  it('are sent one by one up to nine, and as one event from the tenth message on', () => {
    expect(similar(new EventCorrelator(), 1, 12)).toEqual([
      ...Array.from({ length: 9 }, (_, index) => `1 m${index + 1}`),
      '1 (combined from similar events): m10',
      '2 (combined from similar events): m11',
      '3 (combined from similar events): m12',
    ]);
  });

  it('as one event keep the name of its first', () => {
    const correlator = new EventCorrelator();
    similar(correlator, 1, 9);
    const tenth = event({ message: 'm10' });
    const eleventh = event({ message: 'm11' });
    expect(correlator.correlate(tenth, 0)?.event.metadata).toEqual(tenth.metadata);
    expect(correlator.correlate(eleventh, 0)?.event).toMatchObject({
      metadata: tenth.metadata,
      firstTimestamp: tenth.firstTimestamp,
      lastTimestamp: eleventh.lastTimestamp,
    });
  });

  it('are similar across the containers of a pod, and not by another reason', () => {
    const correlator = new EventCorrelator();
    similar(correlator, 1, 9, 0, { container: 'a' });
    expect(told(correlator, { container: 'b', message: 'm10' })).toBe('1 (combined from similar events): m10');
    expect(told(correlator, { reason: 'Pulling', message: 'm11' })).toBe('1 m11');
  });

  it.each([
    [600 * SECOND, '1 (combined from similar events): m10'],
    [600 * SECOND + 1, '1 m10'],
  ])('are sent one by one again after more than 600 s without one: %i ms after the ninth', (later, expected) => {
    const correlator = new EventCorrelator();
    similar(correlator, 1, 9, 5 * SECOND);
    expect(told(correlator, { message: 'm10' }, 5 * SECOND + later)).toBe(expected);
  });

  it('go on being one event as long as each follows within 600 s', () => {
    const correlator = new EventCorrelator();
    similar(correlator, 1, 10);
    expect(told(correlator, { message: 'm11' }, 600 * SECOND)).toBe('2 (combined from similar events): m11');
    expect(told(correlator, { message: 'm12' }, 1_200 * SECOND)).toBe('3 (combined from similar events): m12');
  });

  it('are forgotten one by one, the oldest first, so that one of the last nine is sent by itself', () => {
    const correlator = new EventCorrelator();
    similar(correlator, 1, 12);
    expect(told(correlator, { message: 'm12' })).toBe('1 m12');
    expect(told(correlator, { message: 'm4' })).toBe('2 m4');
    expect(told(correlator, { message: 'm3' })).toBe('4 (combined from similar events): m3');
  });

  it('that come again are no new message', () => {
    const correlator = new EventCorrelator();
    similar(correlator, 1, 9);
    expect(told(correlator, { message: 'm3' })).toBe('2 m3');
    expect(told(correlator, { message: 'm10' })).toBe('1 (combined from similar events): m10');
  });
});

describe('too many events', () => {
  const spam = (correlator: EventCorrelator, count: number, fact: Partial<EventFact> = {}, now = 0): number =>
    Array.from({ length: count }, () => told(correlator, fact, now)).filter((line) => line !== 'not sent').length;

  it('of one type about one object: 25 at once, then one every 300 s', () => {
    const correlator = new EventCorrelator();
    expect(spam(correlator, 30)).toBe(25);
    expect(spam(correlator, 1, {}, 299_999)).toBe(0);
    expect(spam(correlator, 2, {}, 300_000)).toBe(1);
    expect(spam(correlator, 5, {}, 900_000)).toBe(2);
    expect(spam(correlator, 30, {}, 900_000 + 24 * 300_000)).toBe(24);
  });

  it('that are not sent count all the same', () => {
    const correlator = new EventCorrelator();
    spam(correlator, 30);
    expect(told(correlator, {}, 300_000)).toBe('31 done');
  });

  it('do not keep warnings, other pods or the node from being sent', () => {
    const correlator = new EventCorrelator();
    spam(correlator, 26);
    expect(told(correlator, { reason: 'Pulling' })).toBe('not sent');
    expect(told(correlator, { container: 'main' })).toBe('not sent');
    expect(told(correlator, { type: 'Warning' })).toBe('1 done');
    expect(told(correlator, { pod: named('other') })).toBe('1 done');
    expect(told(correlator, { pod: undefined })).toBe('1 done');
  });
});

it('remembers 4096 of each', () => {
  const correlator = new EventCorrelator();
  told(correlator, { pod: named('forgotten') });
  told(correlator, { pod: named('used') });
  for (let index = 0; index < 4_095; index += 1) told(correlator, { pod: named(`pod-${index}`) });
  expect(told(correlator, { pod: named('used') })).toBe('2 done');
  expect(told(correlator, { pod: named('forgotten') })).toBe('1 done');
});
