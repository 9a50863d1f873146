import { describe, expect, it } from 'vitest';
import { apiEvent } from '../../../src/model/events/api-event.js';
import { EventQueue, type QueuedEvent } from '../../../src/model/events/event-queue.js';
import { mapSteps } from '../../support/map-steps.js';

const event = apiEvent({ type: 'Normal', reason: 'R', message: 'm' }, { nodeName: 'n', nanoseconds: 1n });
const queued = (key: string, count = 1): QueuedEvent => ({ key, event: { ...event, count }, tells: 1 });

/** Everything in it, in the order in which it is sent. */
const order = (queue: EventQueue): readonly string[] => {
  const keys: string[] = [];
  for (let first = queue.first(0); first; first = queue.first(0)) {
    keys.push(`${first.key}${first.event.count}`);
    queue.sent(first);
  }
  return keys;
};

describe('events that wait', () => {
  it('go in the order in which they came first, as they are now', () => {
    const queue = new EventQueue(9);
    for (const one of [queued('a'), queued('b'), queued('a', 2), queued('c')]) expect(queue.put(one)).toBeUndefined();
    expect(queue.size).toBe(3);
    expect(order(queue)).toEqual(['a2', 'b1', 'c1']);
    expect([queue.size, queue.first(0)]).toEqual([0, undefined]);
  });

  it('stay when they came again while they were sent', () => {
    const queue = new EventQueue(9);
    const first = queued('a');
    queue.put(first);
    queue.put(queued('a', 2));
    queue.sent(first);
    expect(order(queue)).toEqual(['a2']);
  });

  it('make room for new ones where they were not added to for the longest time, but the one that is being sent', () => {
    const queue = new EventQueue(3);
    for (const key of ['a', 'b', 'c']) queue.put(queued(key));
    expect(queue.first(0)?.key).toBe('a');
    queue.put(queued('b', 2));
    expect(queue.put(queued('d'))?.key).toBe('c');
    expect(queue.put(queued('e'))?.key).toBe('b');
    expect(order(queue)).toEqual(['a1', 'd1', 'e1']);
  });

  it('make room at the same cost however many wait', () => {
    const costOf = (limit: number): number => {
      const queue = new EventQueue(limit);
      for (let index = 0; index < limit; index++) queue.put(queued(`e${index}`));
      return mapSteps(() => queue.put(queued('new')));
    };
    expect(costOf(1_000)).toBe(costOf(10));
  });

  it('are removed as they are by then', () => {
    const queue = new EventQueue(3);
    queue.put(queued('a'));
    queue.put(queued('a', 2));
    expect(queue.remove('a')?.event.count).toBe(2);
    expect(queue.remove('a')).toBeUndefined();
    expect(queue.size).toBe(0);
  });

  it('are put off behind the others, not to be sent before their time, however often they come meanwhile', () => {
    const queue = new EventQueue(3);
    for (const key of ['a', 'b', 'c']) queue.put(queued(key));
    expect(queue.waitFrom(5)).toBe(0);
    expect(queue.putOff('a', 10)).toBe(1);
    expect(queue.putOff('b', 12)).toBe(1);
    queue.put(queued('a', 2));
    expect(queue.first(9)?.key).toBe('c');
    queue.remove('c');
    expect([queue.first(9), queue.waitFrom(9)]).toEqual([undefined, 1]);
    expect(queue.first(12)?.key).toBe('a');
    expect(queue.putOff('a', 20)).toBe(2);
    expect(queue.first(12)?.key).toBe('b');
    queue.remove('b');
    expect(queue.waitFrom(30)).toBe(0);
    queue.remove('a');
    expect([queue.waitFrom(30), queue.putOff('a', 40)]).toEqual([undefined, 0]);
  });

  it('start over with their tries once they were sent and have come again', () => {
    const queue = new EventQueue(3);
    const first = queued('a');
    queue.put(first);
    queue.putOff('a', 10);
    queue.put(queued('a', 2));
    queue.sent(first);
    expect(queue.first(0)?.event.count).toBe(2);
    expect(queue.putOff('a', 10)).toBe(1);
  });
});
