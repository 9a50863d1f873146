import { describe, expect, it } from 'vitest';
import { parseResolvConf, podDns } from '../../../src/model/cri/dns-config.js';
import type { NodeFacts } from '../../../src/model/node/node-facts.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aNode, aPod } from '../pods.js';

describe('parseResolvConf', () => {
  it('keeps every nameserver, the last search line and the last option of a name', () => {
    const text = [
      '# nameserver 9.9.9.9',
      'nameserver 10.0.0.1',
      'nameserver 10.0.0.2 ',
      'search a.example b.example',
      'search c.example. .',
      'options ndots:2 rotate',
      'options ndots:3',
    ].join('\n');
    expect(parseResolvConf(text)).toEqual({
      servers: ['10.0.0.1', '10.0.0.2'],
      searches: ['c.example'],
      options: ['ndots:3', 'rotate'],
    });
  });

  it('names the line of a nameserver without an address', () => {
    expect(() => parseResolvConf('search x\nnameserver')).toThrow('resolv.conf line 2');
  });
});

describe('podDns', () => {
  const host = { servers: ['192.168.1.1'], searches: ['lan'], options: ['timeout:1'] };
  const cluster = {
    servers: ['10.96.0.10'],
    searches: ['default.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'lan'],
    options: ['ndots:5'],
  };
  const twice = { servers: ['192.168.1.1', '192.168.1.1'], searches: ['lan', 'lan'], options: [] };
  const withDns = { clusterDns: ['10.96.0.10'] };

  it.each<[row: string, spec: Partial<PodSpec>, node: Partial<NodeFacts>, expected: object]>([
    ['Default', { dnsPolicy: 'Default' }, withDns, host],
    ['ClusterFirst', { dnsPolicy: 'ClusterFirst' }, withDns, cluster],
    ['no policy', {}, withDns, cluster],
    ['ClusterFirst on the host network', { hostNetwork: true }, withDns, host],
    ['ClusterFirstWithHostNet', { dnsPolicy: 'ClusterFirstWithHostNet', hostNetwork: true }, withDns, cluster],
    ['None', { dnsPolicy: 'None' }, withDns, { servers: [], searches: [], options: [] }],
    [
      'no cluster domain',
      {},
      { ...withDns, clusterDomain: '' },
      { servers: ['10.96.0.10'], searches: ['lan'], options: ['ndots:5'] },
    ],
    [
      'no resolver configuration of the host',
      { dnsPolicy: 'Default' },
      { resolvConf: undefined, nodeIps: ['192.168.1.10', 'fd00::1'] },
      { servers: ['127.0.0.1', '::1'], searches: ['.'], options: [] },
    ],
    [
      'dnsConfig adds and overrides',
      {
        dnsPolicy: 'Default',
        dnsConfig: {
          nameservers: ['192.168.1.1', '1.1.1.1'],
          searches: ['lan', 'more'],
          options: [{ name: 'timeout', value: '3' }, { name: 'rotate' }],
        },
      },
      {},
      { servers: ['192.168.1.1', '1.1.1.1'], searches: ['lan', 'more'], options: ['timeout:3', 'rotate'] },
    ],
    [
      'what the host has twice, counted twice',
      { dnsPolicy: 'Default' },
      { resolvConf: twice },
      { servers: ['192.168.1.1', '192.168.1.1'], searches: ['lan', 'lan'], options: [] },
    ],
    [
      'what the host has twice, beside an empty dnsConfig',
      { dnsPolicy: 'Default', dnsConfig: {} },
      { resolvConf: twice },
      { servers: ['192.168.1.1'], searches: ['lan'], options: [] },
    ],
    [
      'what the cluster has twice',
      {},
      { clusterDns: ['10.96.0.10', '10.96.0.10'], resolvConf: { ...twice, searches: ['lan', 'cluster.local', 'lan'] } },
      { ...cluster, servers: ['10.96.0.10', '10.96.0.10'] },
    ],
    [
      'what the host has twice, without a cluster domain',
      {},
      { ...withDns, clusterDomain: '', resolvConf: twice },
      { servers: ['10.96.0.10'], searches: ['lan', 'lan'], options: ['ndots:5'] },
    ],
  ])('%s', (_, spec, node, expected) => {
    expect(podDns(aPod(spec), aNode(node))).toEqual({ config: expected, warnings: [] });
  });

  const zoned = { servers: ['fe80::1%eth0', '10.0.0.2'], searches: ['lan'], options: [] };
  const onlyZoned = { ...zoned, servers: ['fe80::1%3'] };

  it.each<[what: string, spec: Partial<PodSpec>, node: Partial<NodeFacts>, servers: readonly string[]]>([
    ['a pod with a network of its own', { dnsPolicy: 'Default' }, { resolvConf: zoned }, ['10.0.0.2']],
    ['a pod that falls back to the host', {}, { resolvConf: zoned, hasCluster: false }, ['10.0.0.2']],
    [
      'a pod on the network of the host',
      { dnsPolicy: 'Default', hostNetwork: true },
      { resolvConf: zoned },
      zoned.servers,
    ],
    [
      'a pod over a runtime without networks',
      { dnsPolicy: 'Default' },
      { resolvConf: zoned, sharesNetwork: true },
      zoned.servers,
    ],
    ['a pod without another server', { dnsPolicy: 'Default' }, { resolvConf: onlyZoned }, []],
    [
      'a pod that names the server itself',
      { dnsPolicy: 'None', dnsConfig: { nameservers: ['fe80::1%3'] } },
      {},
      ['fe80::1%3'],
    ],
  ])('the name servers of %s are those that it can reach', (_, spec, node, servers) => {
    expect(podDns(aPod(spec), aNode(node))).toMatchObject({ config: { servers }, warnings: [] });
  });

  it('leaves out a fourth server, also if it is one of the first three', () => {
    const servers = ['192.168.1.1', '192.168.1.1', '192.168.1.1', '192.168.1.2'];
    const dns = podDns(aPod({ dnsPolicy: 'Default' }), aNode({ resolvConf: { servers, searches: [], options: [] } }));
    expect(dns.config.servers).toEqual(servers.slice(0, 3));
    expect(dns.warnings.map(({ reason }) => reason)).toEqual(['DNSConfigForming']);
  });

  it.each(['ClusterFirst', 'ClusterFirstWithHostNet'])(
    'falls back to the host where %s has no cluster DNS, and says so',
    (dnsPolicy) => {
      expect(podDns(aPod({ dnsPolicy }), aNode())).toEqual({
        config: host,
        warnings: [
          {
            reason: 'MissingClusterDNS',
            message:
              'pod: "p_default(uid-1)". kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
          },
        ],
      });
    },
  );

  it('leaves out what resolvers ignore, and says so', () => {
    const searches = Array.from({ length: 33 }, (_, index) => `s${index}`);
    const dnsConfig = { nameservers: ['1.1.1.1', '2.2.2.2', '3.3.3.3', '4.4.4.4'], searches };
    const { config, warnings } = podDns(aPod({ dnsPolicy: 'None', dnsConfig }), aNode());
    expect(config).toEqual({
      servers: ['1.1.1.1', '2.2.2.2', '3.3.3.3'],
      searches: searches.slice(0, 32),
      options: [],
    });
    expect(warnings.map(({ reason, message }) => `${reason}: ${message.slice(0, 26)}`)).toEqual([
      'DNSConfigForming: Nameserver limits were exc',
      'DNSConfigForming: Search Line limits were ex',
    ]);
  });

  it('keeps the search line below its length', () => {
    const searches = Array.from({ length: 12 }, (_, index) => `${index}`.padEnd(200, 'x'));
    const { config } = podDns(
      aPod({ dnsPolicy: 'None', dnsConfig: { searches: [...searches, 'y'.repeat(254)] } }),
      aNode(),
    );
    expect(config.searches).toEqual(searches.slice(0, 10));
  });
});
