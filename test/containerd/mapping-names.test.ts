import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { expect } from 'vitest';
import { NODE_NAME } from '../embedded/daemon.js';
import { eventually } from '../embedded/eventually.js';
import type { ContainerdNode } from './containerd-node.js';
import { running } from './inside.js';
import { overContainerd } from './missing.js';
import { onOneNode } from './one-node.js';

const it = onOneNode((node) => {
  const resolvConf = join(node.directory, 'resolv.conf');
  writeFileSync(
    resolvConf,
    'nameserver 192.0.2.1\nsearch old.test\n# search no.test\nsearch host.test. more.test\noptions timeout:2 rotate\n',
  );
  return ['--config', node.configuration({ clusterDNS: ['192.0.2.10'], clusterDomain: 'cluster.test', resolvConf })];
});

const inside = async (node: ContainerdNode, pod: string, ...command: readonly string[]): Promise<string> =>
  node.exec((await running(node, pod)).id, ...command);

overContainerd('a pod is called, by its own kernel,', () => {
  it('like itself, or as it says', async ({ node }) => {
    // With the name of the node the 63rd character is a dash, which no label ends with.
    const long = 'a'.repeat(62);
    node.apply({ name: 'plain' });
    node.apply({ name: 'called', hostname: 'box' });
    node.apply({ name: long });
    node.apply({ name: 'overridden', hostnameOverride: 'other.example.test', hostname: 'box' });
    node.apply({ name: 'machine', hostNetwork: true, hostname: 'box' });
    const name = (pod: string) => inside(node, pod, 'hostname');
    expect(await Promise.all(['plain', 'called', long].map(name))).toEqual([`plain-${NODE_NAME}`, 'box', long]);
    expect(await name('overridden')).toBe('other.example.test');
    expect(await name('machine')).toBe(hostname());
  });

  it('in full only where it asks for that', async ({ node }) => {
    const domain = { hostname: 'box', subdomain: 'shop' };
    node.apply({ name: 'short', ...domain });
    node.apply({ name: 'full', ...domain, setHostnameAsFQDN: true });
    node.apply({ name: 'domainless', hostname: 'box', setHostnameAsFQDN: true });
    node.apply({ name: 'too-long', ...domain, hostname: 'b'.repeat(40), setHostnameAsFQDN: true });
    const name = (pod: string) => inside(node, pod, 'hostname');
    expect(await name('short')).toBe('box');
    expect(await name('full')).toBe('box.shop.default.svc.cluster.test');
    expect(await name('domainless')).toBe('box');
    await eventually('the kernel takes 64 characters', () =>
      node.log.includes('is too long (64 characters is the max, 70 characters requested)'),
    );
    await expect(node.sandboxOf('too-long')).rejects.toThrow('too-long has no sandbox');
  });
});

overContainerd('names are resolved', () => {
  /** The lines of a pod's resolver configuration, in no order. */
  const resolver = async (node: ContainerdNode, pod: string): Promise<readonly string[]> =>
    (await inside(node, pod, 'cat', '/etc/resolv.conf')).split('\n').toSorted();
  const ofHost = ['nameserver 192.0.2.1', 'options timeout:2 rotate', 'search host.test more.test'];
  const ofCluster = [
    ...['nameserver 192.0.2.10', 'options ndots:5'],
    'search default.svc.cluster.test svc.cluster.test cluster.test host.test more.test',
  ];

  it.for([
    [{ dnsPolicy: undefined }, ofCluster],
    [{ dnsPolicy: 'ClusterFirst' }, ofCluster],
    [{ dnsPolicy: 'ClusterFirst', hostNetwork: true }, ofHost],
    [{ dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, ofCluster],
    [{ dnsPolicy: 'ClusterFirstWithHostNet' }, ofCluster],
    [{ dnsPolicy: 'Default' }, ofHost],
    [{ dnsPolicy: 'Default', hostNetwork: true }, ofHost],
    [{ dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.53'] } }, ['nameserver 192.0.2.53']],
  ] as const)('as the policy says: %j', async ([spec, lines], { node }) => {
    const { dnsPolicy = 'unset', hostNetwork = false } = { hostNetwork: false, ...spec };
    const name = `dns-${dnsPolicy.toLowerCase()}${hostNetwork ? '-host' : ''}`;
    node.apply({ name, ...spec });
    expect(await resolver(node, name)).toEqual(lines);
  });

  it('with what the pod adds to that, within what resolvers read', async ({ node }) => {
    const options = [{ name: 'ndots', value: '3' }, { name: 'edns0' }];
    const own = { nameservers: ['192.0.2.53', '192.0.2.10'], searches: ['one.test', 'host.test'], options };
    node.apply({ name: 'dns-own', dnsPolicy: 'None', dnsConfig: own });
    node.apply({ name: 'dns-merged', dnsConfig: own });
    const nameservers = ['192.0.2.53', '192.0.2.54', '192.0.2.55'];
    node.apply({ name: 'dns-many', dnsConfig: { nameservers } });
    expect(await resolver(node, 'dns-own')).toEqual([
      ...['nameserver 192.0.2.10', 'nameserver 192.0.2.53', 'options ndots:3 edns0', 'search one.test host.test'],
    ]);
    expect(await resolver(node, 'dns-merged')).toEqual([
      ...['nameserver 192.0.2.10', 'nameserver 192.0.2.53', 'options ndots:3 edns0'],
      'search default.svc.cluster.test svc.cluster.test cluster.test host.test more.test one.test',
    ]);
    expect(await inside(node, 'dns-many', 'grep', 'nameserver', '/etc/resolv.conf')).toBe(
      'nameserver 192.0.2.10\nnameserver 192.0.2.53\nnameserver 192.0.2.54',
    );
  });
});
