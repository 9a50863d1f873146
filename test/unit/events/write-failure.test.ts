import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/api/api-error.js';
import { isQuietRefusal, isWorthAnotherTry } from '../../../src/model/events/write-failure.js';

const reply = (code: number, reason = '', message = 'm') => new ApiError({ code, reason, message });

it.each([
  ['nobody answers', new ApiError({ message: 'connection refused' }), true],
  ['500', reply(500, 'InternalError'), true],
  ['503', reply(503), true],
  ['429', reply(429, 'TooManyRequests'), true],
  ['401', reply(401, 'Unauthorized'), true],
  ['403', reply(403, 'Forbidden'), false],
  ['404', reply(404, 'NotFound'), false],
  ['409', reply(409, 'AlreadyExists'), false],
  ['422', reply(422, 'Invalid'), false],
  ['something else', new Error('a mistake of ours'), false],
])('after %s: worth another try?', (_, error, expected) => {
  expect(isWorthAnotherTry(error)).toBe(expected);
});

it.each([
  ['one that is there', reply(409, 'AlreadyExists'), true],
  [
    'one of a namespace that goes',
    reply(403, 'Forbidden', 'unable to create new content in namespace x because it is being terminated'),
    true,
  ],
  ['one that is forbidden', reply(403, 'Forbidden', 'no'), false],
])('%s: missed by nobody?', (_, error, expected) => {
  expect(isQuietRefusal(error)).toBe(expected);
});
