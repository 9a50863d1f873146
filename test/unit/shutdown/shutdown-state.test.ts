import { describe, expect, it } from 'vitest';
import {
  formatShutdownState,
  parseShutdownState,
  type ShutdownState,
  shutdownTimestamps,
} from '../../../src/model/shutdown/shutdown-state.js';

const [START, END] = [Date.parse('2026-01-01T00:00:10.500Z'), Date.parse('2026-01-01T00:00:40Z')];
const ZERO = '0001-01-01T00:00:00Z';

describe('the file of the newest shutdown', () => {
  it.each<[ShutdownState, object]>([
    [{}, { startTime: ZERO, endTime: ZERO }],
    [{ startedAt: START }, { startTime: '2026-01-01T00:00:10.500Z', endTime: ZERO }],
    [
      { startedAt: START, endedAt: END },
      { startTime: '2026-01-01T00:00:10.500Z', endTime: '2026-01-01T00:00:40.000Z' },
    ],
  ])('the state %j is written with both times and read again', (state, expected) => {
    const text = formatShutdownState(state);
    expect(JSON.parse(text)).toEqual(expected);
    expect(parseShutdownState(text)).toEqual(state);
  });

  it.each<[string, string, ShutdownState]>([
    [
      'with nanoseconds and an offset',
      '{"startTime":"2026-01-01T01:00:10.500123456+01:00","endTime":"0001-01-01T00:00:00Z"}',
      { startedAt: START },
    ],
    ['without times', '{}', {}],
    ['with null', '{"startTime":null}', {}],
    ['with other fields', '{"endTime":"2026-01-01T00:00:40Z","more":1}', { endedAt: END }],
  ])('a file %s is read', (_, text, expected) => expect(parseShutdownState(text)).toEqual(expected));

  it.each([
    ['null', 'holds null (expected an object with startTime and endTime)'],
    ['[]', 'holds a list (expected an object with startTime and endTime)'],
    ['"text"', 'holds string (expected an object with startTime and endTime)'],
    ['{"startTime":5}', 'startTime: 5 is no time (expected RFC 3339, such as 2026-01-31T12:00:00Z)'],
    ['{"endTime":"soon"}', 'endTime: "soon" is no time (expected RFC 3339, such as 2026-01-31T12:00:00Z)'],
    ['{"endTime":"2026-13-01T00:00:00Z"}', 'endTime: "2026-13-01T00:00:00Z" is no time'],
    ['{"half', 'JSON'],
    ['', 'JSON'],
  ])('the content %j is refused: %s', (text, message) => {
    expect(() => parseShutdownState(text)).toThrow(message);
  });

  it.each<[ShutdownState, number, number]>([
    [{}, 0, 0],
    [{ startedAt: START }, 1_767_225_610, 0],
    [{ startedAt: START, endedAt: END }, 1_767_225_610, 1_767_225_640],
  ])('the metrics of %j are in whole seconds', (state, start, end) => {
    expect(shutdownTimestamps(state)).toEqual({ start, end });
  });
});
