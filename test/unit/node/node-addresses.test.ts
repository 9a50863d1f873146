import { describe, expect, it } from 'vitest';
import type { NetworkFacts } from '../../../src/model/node/machine-facts.js';
import {
  chooseAddresses,
  needsLookup,
  parseNodeIps,
  providedIpAnnotation,
} from '../../../src/model/node/node-addresses.js';
import type { NodeAddress } from '../../../src/model/node/node.js';
import type { NodeObjectSettings } from '../../../src/model/node/node-settings.js';
import { aMachine, nodeSettings } from '../../support/node-object.js';

describe('--node-ip', () => {
  it.each<[string, readonly string[], readonly string[]]>([
    ['', [], []],
    ['192.0.2.2', ['192.0.2.2'], []],
    [' 192.0.2.2 , FD00::2', ['192.0.2.2', 'fd00::2'], []],
    ['fd00::2,192.0.2.2', ['fd00::2', '192.0.2.2'], []],
    ['::', ['::'], []],
    ['nowhere,192.0.2.2', ['192.0.2.2'], ['nowhere']],
  ])('%j names %j', (text, nodeIps, invalid) => expect(parseNodeIps(text)).toEqual({ nodeIps, invalid }));

  it.each([
    ['192.0.2.2,192.0.2.3', 'must contain either a single IP or a dual-stack pair of IPs'],
    ['192.0.2.2,fd00::2,fd00::3', 'must contain either a single IP or a dual-stack pair of IPs'],
    ['192.0.2.2,::', "dual-stack node IP cannot include '0.0.0.0' or '::'"],
  ])('%j is refused', (text, problem) =>
    expect(() => parseNodeIps(text)).toThrow(`bad --node-ip ${JSON.stringify(text)}: ${problem}`),
  );
});

const { network } = aMachine;
type Settings = Partial<NodeObjectSettings>;
const choose = (
  settings: Settings,
  {
    facts = network,
    lookedUp = [],
    before = [],
  }: { facts?: NetworkFacts; lookedUp?: readonly string[]; before?: readonly NodeAddress[] } = {},
): string => {
  const choice = chooseAddresses({ ...nodeSettings, ...settings }, facts, lookedUp, before);
  return choice.kind === 'problem'
    ? choice.problem
    : choice.addresses.map(({ type, address }) => `${type} ${address}`).join(', ');
};

describe('the addresses of a node', () => {
  it.each<[string, Settings, Parameters<typeof choose>[1], string]>([
    [
      'those that were given',
      { nodeIps: ['fd00::2', '192.0.2.2'] },
      {},
      'InternalIP fd00::2, InternalIP 192.0.2.2, Hostname node-1',
    ],
    ['its name where that is one', { nodeName: '10.1.2.3' }, {}, 'InternalIP 10.1.2.3, Hostname 10.1.2.3'],
    ['what its name resolves to', {}, { lookedUp: ['192.0.2.2'] }, 'InternalIP 192.0.2.2, Hostname node-1'],
    ['of IPv4 first', {}, { lookedUp: ['fd00::2', '192.0.2.2'] }, 'InternalIP 192.0.2.2, Hostname node-1'],
    [
      'of IPv6 first where that is said',
      { nodeIps: ['::'] },
      { lookedUp: ['192.0.2.2', 'fd00::2'] },
      'InternalIP fd00::2, Hostname node-1',
    ],
    [
      'of the other family where there is no other',
      {},
      { lookedUp: ['fd00::2'] },
      'InternalIP fd00::2, Hostname node-1',
    ],
    // What /etc/hosts often says of the own name.
    ['not one of the loopback', {}, { lookedUp: ['127.0.1.1'] }, 'InternalIP 192.0.2.2, Hostname node-1'],
    ['not one of another machine', {}, { lookedUp: ['192.0.2.99'] }, 'InternalIP 192.0.2.2, Hostname node-1'],
    ['that of the default route', {}, {}, 'InternalIP 192.0.2.2, Hostname node-1'],
    ['that of the default route of IPv6', { nodeIps: ['::'] }, {}, 'InternalIP fd00::2, Hostname node-1'],
    [
      'that of the loopback where routes lead through links',
      {},
      {
        facts: {
          interfaces: [
            { name: 'lo', isLoopback: true, addresses: ['127.0.0.1', '198.51.100.1'] },
            { name: 'eth0', isLoopback: false, addresses: ['fe80::2'] },
          ],
          defaultRoutes: [{ family: 4, interface: 'eth0' }],
        },
      },
      'InternalIP 198.51.100.1, Hostname node-1',
    ],
    [
      'that of an interface where the kernel has no table of routes',
      {},
      { facts: { interfaces: network.interfaces } },
      'InternalIP 192.0.2.2, Hostname node-1',
    ],
    [
      'none without a default route',
      {},
      { facts: { interfaces: network.interfaces, defaultRoutes: [] } },
      `can't get ip address of node node-1. error: no default routes found in "/proc/net/route" or "/proc/net/ipv6_route"`,
    ],
    [
      'none where its interface has none',
      {},
      { facts: { interfaces: [], defaultRoutes: [{ family: 4, interface: 'eth0' }] } },
      `can't get ip address of node node-1. error: unable to select an IP from default routes.`,
    ],
    [
      'none where no interface has one',
      {},
      { facts: { interfaces: network.interfaces.slice(0, 1) } },
      `can't get ip address of node node-1. error: no acceptable interface with global unicast address found on host`,
    ],
    [
      'not those of another machine',
      { nodeIps: ['192.0.2.3'] },
      {},
      `failed to validate nodeIP: node IP: "192.0.2.3" not found in the host's network interfaces`,
    ],
    ['not the loopback', { nodeIps: ['127.0.0.1'] }, {}, "failed to validate nodeIP: nodeIP can't be loopback address"],
    ['not a group', { nodeIps: ['224.0.0.1'] }, {}, "failed to validate nodeIP: nodeIP can't be a multicast address"],
    [
      'not a link',
      { nodeIps: ['192.0.2.2', 'fe80::2'] },
      {},
      "failed to validate secondaryNodeIP: nodeIP can't be a link-local unicast address",
    ],
    ['only the name until a cloud has set them', { externalCloudProvider: true }, {}, 'Hostname node-1'],
    [
      'given ones until a cloud has set them',
      { externalCloudProvider: true, nodeIps: ['192.0.2.2'] },
      {},
      'InternalIP 192.0.2.2, Hostname node-1',
    ],
    [
      'the default one until a cloud has set them, where a family was given',
      { externalCloudProvider: true, nodeIps: ['0.0.0.0'] },
      {},
      'InternalIP 192.0.2.2, Hostname node-1',
    ],
    [
      'what the cloud has set',
      { externalCloudProvider: true, nodeIps: ['192.0.2.2'] },
      { before: [{ type: 'ExternalIP', address: '203.0.113.1' }] },
      'ExternalIP 203.0.113.1',
    ],
  ])('%s', (_, settings, given, expected) => expect(choose(settings, given)).toBe(expected));

  it('ask the resolver only where it has a say', () => {
    const asks = (settings: Settings) => needsLookup({ ...nodeSettings, ...settings });
    expect([
      asks({}),
      asks({ nodeIps: ['::'] }),
      asks({ nodeIps: ['192.0.2.2'] }),
      asks({ nodeName: '10.1.2.3' }),
    ]).toEqual([true, true, false, false]);
  });

  it('are given to a cloud where a flag has them', () => {
    const provided = (settings: Settings) => providedIpAnnotation({ ...nodeSettings, ...settings });
    expect([
      provided({ externalCloudProvider: true, nodeIps: ['192.0.2.2', 'fd00::2'] }),
      provided({ externalCloudProvider: true, nodeIps: ['0.0.0.0'] }),
      provided({ nodeIps: ['192.0.2.2'] }),
    ]).toEqual(['192.0.2.2,fd00::2', undefined, undefined]);
  });
});
