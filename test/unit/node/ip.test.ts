import { describe, expect, it } from 'vitest';
import {
  formatIp,
  isGlobalUnicast,
  isLinkLocal,
  isLoopback,
  isMulticast,
  isUnspecified,
  parseIp,
} from '../../../src/model/node/ip.js';

describe('an address', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::', '::'],
    ['::1', '::1'],
    ['1::', '1::'],
    ['FD00:0:0:0:0:0:0:2', 'fd00::2'],
    ['2001:db8:0:1:0:0:0:1', '2001:db8:0:1::1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    // The first of two runs of the same length, and no run of one.
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['64:ff9b::192.0.2.1', '64:ff9b::c000:201'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
  ])('%s is written %s', (text, expected) => {
    const ip = parseIp(text);
    expect(ip && formatIp(ip)).toBe(expected);
  });

  it.each(['', 'node-1', '192.0.2', '192.0.2.256', 'fe80::1%eth0', '1::2::3'])('is not %j', (text) => {
    expect(parseIp(text)).toBeUndefined();
  });

  it.each<[string, string]>([
    ['0.0.0.0', 'unspecified'],
    ['::', 'unspecified'],
    ['127.8.0.1', 'loopback'],
    ['::1', 'loopback'],
    ['224.0.0.1', 'multicast'],
    ['239.255.255.255', 'multicast'],
    ['ff02::1', 'multicast'],
    ['169.254.1.1', 'link-local'],
    ['fe80::1', 'link-local'],
    ['febf::1', 'link-local'],
    ['255.255.255.255', 'nothing'],
    ['10.0.0.1', 'global'],
    ['240.0.0.1', 'global'],
    ['fd00::2', 'global'],
    ['fec0::1', 'global'],
  ])('%s is %s', (text, expected) => {
    const ip = parseIp(text)!;
    const kinds = {
      unspecified: isUnspecified,
      loopback: isLoopback,
      multicast: isMulticast,
      'link-local': isLinkLocal,
      global: isGlobalUnicast,
    };
    const found = Object.entries(kinds).flatMap(([kind, is]) => (is(ip) ? [kind] : []));
    expect(found).toEqual(expected === 'nothing' ? [] : [expected]);
  });
});
