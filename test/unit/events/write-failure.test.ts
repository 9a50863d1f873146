import { expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { isQuietRefusal, writeFailure } from '../../../src/model/events/write-failure.js';

const reply = (code: number, reason = '', message = 'm') => new ApiError({ code, reason, message });

it.each([
  ['no answer', new ApiError({ message: 'connection refused' }), 'unavailable'],
  ['401', reply(401, 'Unauthorized'), 'unavailable'],
  ['429', reply(429, 'TooManyRequests'), 'unavailable'],
  ['502', reply(502), 'unavailable'],
  ['503', reply(503), 'unavailable'],
  ['504', reply(504, 'Timeout'), 'unavailable'],
  ['500', reply(500, 'InternalError'), 'not-this-one'],
  ['507', reply(507), 'not-this-one'],
  ['403', reply(403, 'Forbidden'), 'refused'],
  ['404', reply(404, 'NotFound'), 'refused'],
  ['409', reply(409, 'AlreadyExists'), 'refused'],
  ['422', reply(422, 'Invalid'), 'refused'],
  ['something else', new Error('a mistake of ours'), 'refused'],
])('%s to a write', (_, error, expected) => {
  expect(writeFailure(error)).toBe(expected);
});

it.each([
  ['one that is there', reply(409, 'AlreadyExists'), true],
  [
    'one of a namespace that goes',
    reply(403, 'Forbidden', 'unable to create new content in namespace x because it is being terminated'),
    true,
  ],
  ['one that is forbidden', reply(403, 'Forbidden', 'no'), false],
])('%s: without a loss?', (_, error, expected) => {
  expect(isQuietRefusal(error)).toBe(expected);
});
