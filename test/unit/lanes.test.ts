import { describe, expect, it } from 'vitest';
import { expectLanes, type Lanes } from '../marbles/lanes.js';

const history = ['0 start main 0', '2000 start main 1', '2000 stop main', '9000 stop main', '9000 stop main'];
const drawn = (lanes: Lanes) => () => expectLanes(history, { everyMs: 1_000 }).toBe(lanes);
const LEGEND = { g: 'get', p: 'put' };

describe('a picture of a history', () => {
  it('has a lane for each kind of event, a character for each step, and the count that ends a text', () => {
    drawn({
      'start main': '0-1-------   ',
      'stop main': ' --s------(ss)',
    })();
  });

  it('is written with lengths of time, groups of one step, and spaces', () => {
    drawn({ 'start main': ' 0 1s 1', 'stop main': '2s s 6000ms (ss)' })();
    expectLanes(['500 a', '1000 b', '90000 c'], { everyMs: 500 }).toBe({ a: '-a', b: '--b   ', c: '  1m 30s c' });
  });

  it('keeps the order of different events where it has a legend', () => {
    const events = ['0 get', '0 put', { at: 3, what: 'get' }];
    expectLanes(events, { everyMs: 1 }).toBe('(gp)--g', LEGEND);
    expect(() => expectLanes(events, { everyMs: 1 }).toBe('(pg)--g', LEGEND)).toThrow(/differ/);
  });

  it('has empty lanes where nothing happens', () => {
    expectLanes([], { everyMs: 1 }).toBe({ a: '---' });
    expectLanes([], { everyMs: 1 }).toBe('', {});
  });

  it.each<{ case: string; lanes: Lanes }>([
    { case: 'an event is one step late', lanes: { 'start main': '0--1', 'stop main': '--s------(ss)' } },
    { case: 'an event is missing', lanes: { 'start main': '0-1', 'stop main': '--s------s' } },
    { case: 'there is one too many', lanes: { 'start main': '0-1-2', 'stop main': '--s------(ss)' } },
    { case: 'it is another event', lanes: { 'start main': '0-2', 'stop main': '--s------(ss)' } },
    { case: 'a lane is missing', lanes: { 'start main': '0-1' } },
    { case: 'a lane has no events', lanes: { 'start main': '0-1', 'stop main': '--s------(ss)', 'stop m': 's' } },
  ])('fails where $case', ({ lanes }) => {
    expect(drawn(lanes)).toThrow(/the pictures differ/);
  });

  it('fails with both pictures above each other', () => {
    expect(drawn({ 'start main': '0-1', 'stop main': '--s--- 54s s' })).toThrow(
      [
        'the pictures differ; expected',
        "  'start main' 0-1-------    50s -",
        "  'stop main'  --s-------    50s s",
        'actual',
        "  'start main' 0-1-------    50s -",
        "  'stop main'  --s------(ss) 50s -",
      ].join('\n'),
    );
  });

  it('fails where an event is between two steps, unless the picture says that it rounds down', () => {
    expect(() => expectLanes(['1001 a'], { everyMs: 1_000 }).toBe('-a', { a: 'a' })).toThrow(/between two steps/);
    expectLanes(['1001 a', '1999 a'], { everyMs: 1_000, floor: true }).toBe('-(aa)', { a: 'a' });
  });

  it('is refused where it cannot be read', () => {
    expect(() => expectLanes([], { everyMs: 1_000 }).toBe('1500ms a', {})).toThrow(/no whole number of steps/);
    expect(() => expectLanes([], { everyMs: 1 }).toBe('(ab', {})).toThrow(/group/);
    expect(() => expectLanes(['a'], { everyMs: 1 }).toBe('a', {})).toThrow(/begins with no time/);
  });
});
