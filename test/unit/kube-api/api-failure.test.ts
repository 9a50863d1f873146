import { describe, expect, it } from 'vitest';
import { isConnectionLost, ApiError } from '../../../src/model/kube-api/api-error.js';
import { apiFailure, type ApiFailure } from '../../../src/model/kube-api/api-failure.js';
import { retryAfterMs } from '../../../src/model/kube-api/retry-after.js';

const told = (failure: Partial<ApiFailure>) => {
  const { code, reason, message, retryAfterSeconds } = apiFailure({
    ...{ code: 500, method: 'GET', path: '/p', body: '' },
    ...failure,
  });
  return { code, reason, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
};
const status = (fields: object): string => JSON.stringify({ kind: 'Status', apiVersion: 'v1', ...fields });

describe('a reply that is no success', () => {
  it('is what its Status says', () => {
    const body = status({ code: 409, reason: 'AlreadyExists', message: 'pods "a" already exists' });
    expect(told({ code: 409, contentType: 'application/json', body })).toEqual({
      ...{ code: 409, reason: 'AlreadyExists', message: 'pods "a" already exists' },
    });
  });

  it.each([
    { retryAfter: '7', details: { retryAfterSeconds: 3 }, expected: { retryAfterSeconds: 7 } },
    { retryAfter: '0', details: {}, expected: { retryAfterSeconds: 0 } },
    { details: { retryAfterSeconds: 3 }, expected: { retryAfterSeconds: 3 } },
    // What the API server writes where it says nothing.
    { details: { retryAfterSeconds: 0 }, expected: {} },
    { details: null, expected: {} },
    { details: { retryAfterSeconds: 'x' }, expected: {} },
    { details: 'x', expected: {} },
    { retryAfter: 'Wed, 21 Oct 2026 07:28:00 GMT', details: {}, expected: {} },
  ])('asks to wait: header $retryAfter, details $details', ({ details, expected, ...failure }) => {
    const body = status({ code: 429, reason: 'TooManyRequests', message: 'm', details });
    expect(told({ code: 429, body, ...failure })).toEqual({
      ...{ code: 429, reason: 'TooManyRequests', message: 'm' },
      ...expected,
    });
  });

  it('has no field of its Status that has another type', () => {
    const body = status({ code: '429', reason: { a: 1 }, message: ['m'], details: [] });
    expect(told({ code: 503, body })).toMatchObject({
      code: 503,
      reason: '',
      message: expect.stringContaining('GET /p') as string,
    });
  });

  it('has the code of the reply where its Status has none, and no reason where that has none', () => {
    expect(told({ code: 418, body: status({ message: 'm' }) })).toEqual({ code: 418, reason: '', message: 'm' });
  });

  it.each([
    [400, 'BadRequest', 'the server rejected our request for an unknown reason (GET /p)'],
    [401, 'Unauthorized', 'the server has asked for the client to provide credentials (GET /p)'],
    [403, 'Forbidden', 'said so (GET /p)'],
    [404, 'NotFound', 'the server could not find the requested resource (GET /p)'],
    [405, 'MethodNotAllowed', 'the server does not allow this method on the requested resource (GET /p)'],
    [409, 'Conflict', 'the server reported a conflict (GET /p)'],
    [415, 'UnsupportedMediaType', 'said so (GET /p)'],
    [418, '', 'the server responded with the status code 418 but did not return more information (GET /p)'],
    [422, 'Invalid', 'the server rejected our request due to an error in our request (GET /p)'],
    [429, 'TooManyRequests', 'the server has received too many requests and has asked us to try again later (GET /p)'],
    [500, 'InternalError', 'an error on the server ("said so") has prevented the request from succeeding (GET /p)'],
    [503, 'ServiceUnavailable', 'the server is currently unable to handle the request (GET /p)'],
    [
      504,
      'Timeout',
      'the server was unable to return a response in the time allotted, but may still be processing the request (GET /p)',
    ],
  ])('with a text and no Status is what its code says: %i', (code, reason, message) => {
    expect(told({ code, contentType: 'text/plain; charset=utf-8', body: ' said so\n' })).toEqual({
      code,
      reason,
      message,
    });
  });

  it('to a POST in conflict is that there is one already', () => {
    expect(told({ code: 409, method: 'POST' }).reason).toBe('AlreadyExists');
  });

  it('is not quoted at length, nor when it is no text', () => {
    expect(told({ code: 403, body: 'x'.repeat(5_000) }).message).toBe(`${'x'.repeat(2_048)} (GET /p)`);
    expect(told({ code: 403, contentType: 'image/png', body: 'x' }).message).toBe('unknown (GET /p)');
  });

  it.each(['null', '[]', '3', '{"kind":"Pod"}', '{"kind":"Status'])('may be JSON of something else: %s', (body) => {
    expect(told({ code: 404, body, contentType: 'application/json' }).reason).toBe('NotFound');
  });
});

describe('a connection that broke', () => {
  const lost = (code: unknown) => new ApiError({ message: 'm', cause: Object.assign(new Error('m'), { code }) });

  it.each([
    [lost('ECONNRESET'), true],
    [lost('EPIPE'), true],
    [lost('ECONNREFUSED'), false],
    [new ApiError({ message: 'm' }), false],
    [new ApiError({ message: 'm', code: 500, cause: { code: 'ECONNRESET' } }), false],
    [new Error('m'), false],
  ])('%o: %s', (error, expected) => {
    expect(isConnectionLost(error)).toBe(expected);
    expect(retryAfterMs(error, true)).toBe(expected ? 1_000 : undefined);
    expect(retryAfterMs(error, false)).toBe(undefined);
  });
});

it('a wait that is too long for a timer, which would end at once, is the longest one', () => {
  const error = apiFailure({ code: 429, method: 'GET', path: '/p', body: '', retryAfter: '99999999999' });
  expect(retryAfterMs(error, false)).toBe(2 ** 31 - 1);
});
