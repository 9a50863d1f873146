import { describe, expect, it } from 'vitest';
import { silentInterfaces } from '../../../src/model/node/silent-interfaces.js';

/** Of a machine with `eth0`, and with the bridge `br0` (`10.9.8.7/24`), which has no members. */
const fib_trie = `Main:
  +-- 0.0.0.0/0 3 0 5
     |-- 0.0.0.0
        /0 universe UNICAST
     +-- 10.9.8.0/24 2 0 2
        +-- 10.9.8.0/29 2 0 2
           |-- 10.9.8.0
              /24 link UNICAST
           |-- 10.9.8.7
              /32 link UNICAST
              /32 host LOCAL
        |-- 10.9.8.255
           /32 link BROADCAST
     +-- 127.0.0.0/8 2 0 2
        |-- 127.0.0.0
           /8 host LOCAL
        |-- 127.0.0.1
           /32 host LOCAL
     |-- 192.0.2.2
        /32 host LOCAL
     |-- 198.51.100.9
        /32 host LOCAL
Local:
        |-- 10.9.8.7
           /32 host LOCAL
`;
const route = `Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT
eth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0
eth0\t0000000A\t00000000\t0001\t0\t0\t0\t000000FF\t0\t0\t0
br0\t0008090A\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0
`;
const if_inet6 = `00000000000000000000000000000001 01 80 10 80       lo
fd000000000000000000000000000002 04 40 00 82     eth0
fd0000000000000000000000000000bb 05 40 00 c0      br0
`;
const lo = { name: 'lo', isLoopback: true, addresses: ['127.0.0.1', '::1'] };
const eth0 = { name: 'eth0', isLoopback: false, addresses: ['192.0.2.2', 'fd00::2'] };

describe('the interfaces without a carrier', () => {
  it('an address is on the interface of its smallest subnet; one without a route has no interface', () => {
    expect(silentInterfaces([lo, eth0], { fib_trie, route, if_inet6 })).toEqual([
      { name: 'br0', isLoopback: false, addresses: ['10.9.8.7', 'fd00::bb'] },
      { name: '', isLoopback: false, addresses: ['198.51.100.9'] },
    ]);
  });

  it('a loopback interface that Node does not list is still a loopback interface', () => {
    const found = silentInterfaces([eth0], { fib_trie, route: '', if_inet6 });
    expect(found.filter(({ isLoopback }) => isLoopback).map(({ name, addresses }) => [name, addresses])).toEqual([
      ['lo', ['127.0.0.1', '::1']],
    ]);
    // No route leads to these.
    expect(found.find(({ name }) => name === '')?.addresses).toEqual(['10.9.8.7', '198.51.100.9']);
  });

  it.each<[row: string, tables: Parameters<typeof silentInterfaces>[1]]>([
    ['no tables', { fib_trie: '', route: '', if_inet6: '' }],
    ['tables of another form', { fib_trie: '|-- here\n   /32 host LOCAL\n', route: 'a\nb c', if_inet6: 'zz br0\n' }],
  ])('there are none in %s', (_, tables) => {
    expect(silentInterfaces([lo, eth0], tables)).toEqual([]);
  });
});
