import { describe, expect, it } from 'vitest';
import { profileCall } from '../../../src/model/server/profile-request.js';

const call = (name: string, query = '') => profileCall(name, new URLSearchParams(query));

describe('a profile', () => {
  it.each([
    ['profile', '', { kind: 'cpu', seconds: 30 }],
    ['profile', 'seconds=1', { kind: 'cpu', seconds: 1 }],
    ['heap', 'seconds=300&debug=1', { kind: 'heap', seconds: 300 }],
    ['allocs', 'seconds=007', { kind: 'allocs', seconds: 7 }],
  ])('%s?%s', (name, query, expected) => {
    expect(call(name, query)).toEqual(expected);
  });

  it.each(['0', '301', '-1', '1.5', '1e2', '', ' 1', '99999999999999999999', 'Infinity'])(
    'has no duration of %j',
    (seconds) => {
      expect(call('profile', new URLSearchParams({ seconds }).toString())).toEqual({
        status: 400,
        text: 'seconds: expected a whole number from 1 to 300\n',
      });
    },
  );

  it.each(['goroutine', 'cmdline', 'symbol', 'trace', 'block', 'mutex', 'threadcreate', 'constructor', 'heap/x'])(
    'does not exist as %s',
    (name) => {
      expect(call(name)).toMatchObject({ status: 404 });
    },
  );
});
