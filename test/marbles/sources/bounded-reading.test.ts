import { describe, it } from 'vitest';
import type { ManifestReading } from '../../../src/model/manifest/parse-manifest.js';
import { boundedReading, READING_MS } from '../../../src/sources/bounded-reading.js';
import { marbles } from '../marbles.js';

const GOOD: ManifestReading = { pods: [], objects: [], problems: [], warnings: [] };
const refused = (message: string): ManifestReading => ({
  pods: [],
  objects: [],
  problems: [{ file: 'f', document: 1, line: 1, column: 1, field: '', message }],
  warnings: [],
});
const values = {
  g: GOOD,
  l: refused('takes more than 10 s to read'),
  x: refused('could not be read: the thread that reads it ended with code 3'),
};

describe('boundedReading', () => {
  it(
    'passes a reading on',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const reading = cold('---(g|)', values);
      const expected = '    ---(g|)';
      expectObservable(reading.pipe(boundedReading('f', scheduler))).toBe(expected, values);
      expectSubscriptions(reading.subscriptions).toBe('^--!');
    }),
  );

  it(
    'gives up after ten seconds, and stops what reads',
    marbles(({ cold, expectObservable, expectSubscriptions, scheduler }) => {
      const reading = cold('-', values);
      const expected = `${READING_MS}ms (l|)`;
      expectObservable(reading.pipe(boundedReading('f', scheduler))).toBe(expected, values);
      expectSubscriptions(reading.subscriptions).toBe(`^ ${READING_MS - 1}ms !`);
    }),
  );

  it(
    'makes a problem of an error',
    marbles(({ cold, expectObservable, scheduler }) => {
      const reading = cold('--#', values, new Error('the thread that reads it ended with code 3'));
      const expected = '    --(x|)';
      expectObservable(reading.pipe(boundedReading('f', scheduler))).toBe(expected, values);
    }),
  );
});
