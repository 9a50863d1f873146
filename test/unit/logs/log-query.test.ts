import { describe, expect, it } from 'vitest';
import type { LogOptions } from '../../../src/model/logs/log-options.js';
import { readLogQuery } from '../../../src/model/logs/log-query.js';

const read = (query: string, splitStreams = false) => readLogQuery(new URLSearchParams(query), splitStreams);

describe('the query of a request for a log', () => {
  it.each<[string, Partial<LogOptions>]>([
    ['', {}],
    ['follow=true&previous=1&timestamps=yes', { follow: true, previous: true, timestamps: true }],
    ['follow=&previous=false&timestamps=0', { follow: true }],
    ['follow=FALSE&follow=true', {}],
    ['sinceSeconds=5', { sinceSeconds: 5 }],
    ['sinceSeconds=%2B5', { sinceSeconds: 5 }],
    ['sinceTime=2026-01-31T12:00:00%2B02:00', { sinceTime: '2026-01-31T12:00:00+02:00' }],
    ['sinceTime=', { sinceTime: '0001-01-01T00:00:00Z' }],
    ['sinceTime=null', { sinceTime: '0001-01-01T00:00:00Z' }],
    ['tailLines=0', { tailLines: 0 }],
    ['tailLines=9223372036854775807', { tailLines: 9223372036854775807 }],
    ['tail=3', { tailLines: 3 }],
    ['tail=3&tailLines=x', { tailLines: 3 }],
    ['tail=all&tailLines=x', {}],
    ['tail=&tailLines=4', { tailLines: 4 }],
    ['limitBytes=1', { limitBytes: 1 }],
    ['stream=All&tailLines=1', { tailLines: 1 }],
    ['container=c&insecureSkipTLSVerifyBackend=true&other=x', {}],
  ])('%s', (query, expected) => {
    const none = { follow: false, previous: false, timestamps: false, stream: 'All' };
    expect(read(query)).toEqual({ options: { ...none, ...expected } });
  });

  it.each([
    'tailLines=x',
    'tailLines=',
    'tailLines=1.5',
    'tailLines=0x10',
    'tailLines=1_000',
    'tailLines=9223372036854775808',
    'tail=some',
    'sinceSeconds=1e3',
    'limitBytes=-9223372036854775809',
    'sinceTime=yesterday',
    'sinceTime=2026-01-31T12:00:00+99:00',
  ])('cannot be decoded: %s', (query) => {
    expect(read(query.replaceAll('+', '%2B'))).toEqual({
      status: 400,
      text: '{"message": "Unable to decode query."}',
    });
  });

  it.each([
    'tailLines=-1',
    'tail=-1',
    'limitBytes=0',
    'sinceSeconds=0',
    'sinceSeconds=1&sinceTime=2026-01-31T12:00:00Z',
    'stream=Stdout',
    'stream=stdout',
    'stream=',
  ])('is not valid: %s', (query) => {
    expect(read(query)).toEqual({ status: 422, text: '{"message": "Invalid request."}' });
  });

  it('selects a stream where the gate is on, but not together with the last lines', () => {
    expect(read('stream=Stderr', true)).toMatchObject({ options: { stream: 'Stderr' } });
    for (const query of ['stream=Stderr&tailLines=1', 'stream=stderr']) {
      expect(read(query, true)).toMatchObject({ status: 422 });
    }
  });
});
