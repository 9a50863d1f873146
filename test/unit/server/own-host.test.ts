import { expect, it } from 'vitest';
import { isOwnHost } from '../../../src/server/access/own-host.js';

it.each([
  ['192.168.1.5', '192.168.1.5', true],
  ['192.168.1.5:10248', '::ffff:192.168.1.5', true],
  ['[fe80::1]:10248', 'fe80::1', true],
  ['192.168.1.6', '192.168.1.5', false],
  ['[fd00::9]', '127.0.0.1', true],
  ['2130706433', '127.0.0.1', true],
  ['localhost@evil.com', '127.0.0.1', false],
  ['evil.com#localhost', '127.0.0.1', false],
])('a request for %j that came in at %s is for this node: %s', (host, localAddress, isOwn) => {
  expect(isOwnHost(host, { localAddress, names: ['fd00::9', 'node-1'] })).toBe(isOwn);
});
