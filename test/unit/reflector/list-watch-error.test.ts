import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { isTooLargeResourceVersion, statusError } from '../../../src/model/reflector/list-watch-error.js';

it.each([
  [
    { code: 410, reason: 'Expired', message: 'too old' },
    { code: 410, reason: 'Expired', message: 'too old' },
  ],
  [
    { code: 429, message: 'busy', details: { retryAfterSeconds: 3 } },
    { code: 429, reason: '', message: 'busy', retryAfterSeconds: 3 },
  ],
  [
    { code: 500, message: 'x', details: null },
    { code: 500, message: 'x', retryAfterSeconds: undefined },
  ],
  [{}, { code: 500, reason: '', message: 'the watch ended with {}' }],
  [null, { code: 500, message: 'the watch ended with null' }],
  ['sorry', { code: 500, message: 'the watch ended with "sorry"' }],
])('of the status %j it makes %j', (status, expected) => {
  expect(statusError(status)).toMatchObject(expected);
});

it.each([
  [new ApiError({ code: 504, reason: 'Timeout', message: 'Timeout: Too large resource version: 9, current: 3' }), true],
  [new ApiError({ code: 500, message: 'Too large resource version' }), true],
  [new ApiError({ code: 504, reason: 'Timeout', message: 'Timeout: request did not complete' }), false],
  [new ApiError({ message: 'Too large resource version' }), false],
  [new Error('Too large resource version'), false],
])('%s is a version that the server does not know yet: %j', (error, expected) => {
  expect(isTooLargeResourceVersion(error)).toBe(expected);
});
