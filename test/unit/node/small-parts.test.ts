import { describe, expect, it } from 'vitest';
import { ipv4DefaultRoutes, ipv6DefaultRoutes } from '../../../src/model/node/default-routes.js';
import { hostIps } from '../../../src/model/node/host-ips.js';
import { kubeletVersion } from '../../../src/model/node/kubelet-version.js';
import { hasOwner, type Lease, renewedLease } from '../../../src/model/node/lease.js';
import { liveNodeFacts } from '../../../src/model/node/live-node-facts.js';
import { afterDeletion, newestAfter, newestNode } from '../../../src/model/node/newest-node.js';
import type { Node, NodeAddress } from '../../../src/model/node/node.js';
import type { ReflectorEvent } from '../../../src/model/reflector/reflector-event.js';
import { nodeFacts } from '../../support/node-facts.js';

describe('the default routes', () => {
  it('are those to everywhere', () => {
    const table = [
      'Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT',
      'eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0',
      'eth1\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0',
      'eth0\t00000000\t010200C0\t0003\t0\t0\t9\t00000000\t0\t0\t0',
      '',
    ].join('\n');
    expect(ipv4DefaultRoutes(table).map((route) => route.interface)).toEqual(['eth1', 'eth0']);
  });

  it('of IPv6 have a gateway', () => {
    const zero = '0'.repeat(32);
    const row = (destination: string, gateway: string, name: string) =>
      `${destination} 00 ${zero} 00 ${gateway} 00000400 00000001 00000000 00000003     ${name}`;
    const gateway = `fe80${'0'.repeat(27)}1`;
    const table = [row(zero, zero, 'lo'), row(`fd00${zero.slice(4)}`, zero, 'eth0'), row(zero, gateway, 'eth1')].join(
      '\n',
    );
    expect(ipv6DefaultRoutes(`${table}\n`)).toEqual([{ family: 6, interface: 'eth1' }]);
  });
});

describe('the addresses by which pods know their node', () => {
  it.each<[readonly string[], readonly string[]]>([
    [[], []],
    [['Hostname node-1'], []],
    [['InternalIP 192.0.2.2', 'Hostname node-1'], ['192.0.2.2']],
    [
      ['ExternalIP 203.0.113.1', 'InternalIP FD00::2', 'InternalIP 192.0.2.2', 'InternalIP 192.0.2.3'],
      ['fd00::2', '192.0.2.2'],
    ],
    [
      ['ExternalIP 2001:db8::1', 'InternalIP 192.0.2.2'],
      ['192.0.2.2', '2001:db8::1'],
    ],
    [['InternalIP nonsense'], []],
  ])('of %j are %j', (texts, expected) => {
    const addresses = texts.map((text): NodeAddress => {
      const [type = '', address = ''] = text.split(' ');
      return { type, address };
    });
    expect(hostIps({ metadata: { name: 'node-1' }, status: { addresses } })).toEqual(expected);
  });
});

it('names a release of Kubernetes, and itself where that does not count', () => {
  expect(kubeletVersion('0.5.0')).toBe('v1.37.0+rx-kubelet.0.5.0');
  expect(kubeletVersion('0.5.0-beta_1')).toMatch(/^v\d+\.\d+\.\d+\+[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*$/);
});

describe('a lease', () => {
  const terms = { nodeName: 'node-1', durationSeconds: 40, now: Date.UTC(2026, 0, 1, 0, 0, 0, 5) };
  const owner: Node = { metadata: { name: 'node-1', uid: 'u-1' } };
  const made = renewedLease(undefined, { ...terms, owner });

  it('that is made belongs to its Node', () => {
    expect(made).toEqual({
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: {
        name: 'node-1',
        namespace: 'kube-node-lease',
        ownerReferences: [{ apiVersion: 'v1', kind: 'Node', name: 'node-1', uid: 'u-1' }],
      },
      spec: { holderIdentity: 'node-1', leaseDurationSeconds: 40, renewTime: '2026-01-01T00:00:00.005000Z' },
    });
    expect([hasOwner(made, 'u-1'), hasOwner(made, undefined), hasOwner(made, 'u-2')]).toEqual([true, true, false]);
    expect([hasOwner(undefined, 'u-1'), hasOwner({ metadata: {} }, undefined)]).toEqual([false, false]);
  });

  it('that is renewed has a new time and the duration of now, and is as it was else', () => {
    const base: Lease = {
      ...made,
      metadata: { ...made.metadata, resourceVersion: '7' },
      spec: { ...made.spec, holderIdentity: 'x' },
    };
    expect(renewedLease(base, { ...terms, durationSeconds: 20, now: terms.now + 1_000, owner: undefined })).toEqual({
      ...base,
      spec: { holderIdentity: 'x', leaseDurationSeconds: 20, renewTime: '2026-01-01T00:00:01.005000Z' },
    });
  });
});

describe('the newest that is known of a Node', () => {
  const node = (resourceVersion?: string): Node => ({
    metadata: { name: 'node-1', ...(resourceVersion && { resourceVersion }) },
  });
  it.each<[string, Node | undefined, Node, boolean]>([
    ['of a first one', undefined, node('5'), true],
    ['of a later version', node('9'), node('10'), true],
    ['of the same', node('9'), node('9'), true],
    ['not of an earlier one', node('10'), node('9'), false],
    ['of one that cannot be compared', node('x'), node('9'), true],
    ['of one without a version', node('9'), node(), true],
  ])('is what was seen: %s', (_, known, seen, isTaken) => expect(newestNode(known, seen)).toBe(isTaken ? seen : known));

  it('is none after a deletion, unless one was made since', () => {
    const known = node('9');
    expect([afterDeletion(known, '10'), afterDeletion(known, '8'), afterDeletion(undefined, '8')]).toEqual([
      undefined,
      known,
      undefined,
    ]);
  });
});

describe('the newest Node after an event of the watch', () => {
  const node = (resourceVersion: string): Node => ({ metadata: { name: 'node-1', resourceVersion } });
  const [known, later, earlier] = [node('5'), node('9'), node('3')];
  const failed: ReflectorEvent<Node> = { kind: 'problem', step: 'watch', error: 'no', severity: 'debug' };
  it.each<readonly [string, ReflectorEvent<Node>, Node | undefined]>([
    ['a later version replaces it', { kind: 'put', object: later }, later],
    ['an earlier version does not replace it', { kind: 'put', object: earlier }, known],
    ['a later deletion removes it', { kind: 'deleted', object: later }, undefined],
    ['an earlier deletion does not remove it', { kind: 'deleted', object: earlier }, known],
    ['the Node of a list replaces it', { kind: 'replaced', objects: [earlier], resourceVersion: '9' }, earlier],
    ['a later list without a Node removes it', { kind: 'replaced', objects: [], resourceVersion: '9' }, undefined],
    [
      'an earlier list without a Node does not remove it',
      { kind: 'replaced', objects: [], resourceVersion: '3' },
      known,
    ],
    ['a failure leaves it', failed, known],
    ['a recovery leaves it', { kind: 'recovered' }, known],
  ])('%s', (_, event, expected) => expect(newestAfter(known, event)).toBe(expected));
});

describe('the facts of a node of a cluster', () => {
  it('are those of its Node at the time, and of the machine where it says nothing', () => {
    let node: Node | undefined;
    const facts = liveNodeFacts(nodeFacts, () => node);
    expect({ ...facts }).toEqual({ ...nodeFacts, taints: undefined, isProvisional: true });
    const taints = [{ key: 'a', effect: 'NoExecute' }];
    node = {
      metadata: { name: 'node-1', uid: 'u-1', labels: { a: '1' } },
      spec: { taints },
      status: { allocatable: { cpu: '1' }, addresses: [{ type: 'InternalIP', address: '198.51.100.1' }] },
    };
    expect(facts).toMatchObject({
      isProvisional: false,
      labels: { a: '1' },
      taints,
      allocatable: { cpu: '1' },
      nodeIps: ['198.51.100.1'],
    });
    node = { metadata: { name: 'node-1' } };
    expect(facts).toMatchObject({
      labels: nodeFacts.labels,
      allocatable: nodeFacts.allocatable,
      nodeIps: nodeFacts.nodeIps,
    });
  });
});
