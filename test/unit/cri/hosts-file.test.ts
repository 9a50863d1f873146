import { describe, expect, it } from 'vitest';
import { hostNetworkHostsContent, podHostsContent, wantsHostsFile } from '../../../src/model/cri/hosts-file.js';
import type { PodSpec } from '../../../src/model/pod/pod.js';
import { aPod } from '../../support/a-pod.js';

const LOCAL = [
  '127.0.0.1\tlocalhost',
  '::1\tlocalhost ip6-localhost ip6-loopback',
  'fe00::0\tip6-localnet',
  'fe00::0\tip6-mcastprefix',
  'fe00::1\tip6-allnodes',
  'fe00::2\tip6-allrouters',
];
const text = (...lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
const node = { clusterDomain: 'cluster.local' };
const hostAliases = [
  { ip: '192.0.2.7', hostnames: ['db', 'db.example'] },
  { ip: '2001:db8::7', hostnames: ['six'] },
];
const ALIASES = ['', '# Entries added by HostAliases.', '192.0.2.7\tdb\tdb.example', '2001:db8::7\tsix'];

describe('the hosts file of a pod', () => {
  it.each<{ case: string; spec: Partial<PodSpec>; ips: readonly string[]; own: readonly string[] }>([
    { case: 'names the pod', spec: {}, ips: ['10.0.0.1'], own: ['10.0.0.1\tweb'] },
    {
      case: 'names it at each address, in the order of the runtime',
      spec: { hostname: 'box' },
      ips: ['fd00::1', '10.0.0.1'],
      own: ['fd00::1\tbox', '10.0.0.1\tbox'],
    },
    {
      case: 'gives it its full name first where it has a domain',
      spec: { hostname: 'box', subdomain: 'sub' },
      ips: ['10.0.0.1'],
      own: ['10.0.0.1\tbox.sub.default.svc.cluster.local\tbox'],
    },
    {
      case: 'keeps the short name even if the kernel has the full one',
      spec: { hostname: 'box', subdomain: 'sub', setHostnameAsFQDN: true },
      ips: ['10.0.0.1'],
      own: ['10.0.0.1\tbox.sub.default.svc.cluster.local\tbox'],
    },
    { case: 'ends with the aliases', spec: { hostAliases }, ips: ['10.0.0.1'], own: ['10.0.0.1\tweb', ...ALIASES] },
    {
      case: 'has an alias without names as the kubelet writes it',
      spec: { hostAliases: [{ ip: '192.0.2.7' }, { ip: '192.0.2.8', hostnames: [] }] },
      ips: ['10.0.0.1'],
      own: ['10.0.0.1\tweb', '', '# Entries added by HostAliases.', '192.0.2.7\t', '192.0.2.8\t'],
    },
    { case: 'says nothing of no aliases', spec: { hostAliases: [] }, ips: ['10.0.0.1'], own: ['10.0.0.1\tweb'] },
  ])('$case', ({ spec, ips, own }) => {
    const content = podHostsContent(aPod({ spec }), ips, node);
    expect(content).toBe(text('# Kubernetes-managed hosts file.', ...LOCAL, ...own));
  });

  it('on the network of the node is the file of the node', () => {
    const pod = aPod({ spec: { hostNetwork: true, hostAliases } });
    expect(hostNetworkHostsContent(pod, '127.0.0.1 localhost\n')).toBe(
      text('# Kubernetes-managed hosts file (host network).', '127.0.0.1 localhost', ...ALIASES),
    );
    expect(hostNetworkHostsContent(aPod({ spec: { hostNetwork: true } }), 'no newline at the end')).toBe(
      '# Kubernetes-managed hosts file (host network).\nno newline at the end',
    );
  });
});

describe('a container gets the hosts file', () => {
  const own = [{ name: 'hosts', mountPath: '/etc/hosts' }];
  it.each([
    { case: 'once the pod has an address', ips: ['10.0.0.1'], hostNetwork: false, volumeMounts: [], gets: true },
    { case: 'not before', ips: [], hostNetwork: false, volumeMounts: [], gets: false },
    { case: 'at once on the network of the node', ips: [], hostNetwork: true, volumeMounts: [], gets: true },
    { case: 'not beside one of a volume', ips: ['10.0.0.1'], hostNetwork: false, volumeMounts: own, gets: false },
    {
      case: 'beside a volume at another path',
      ips: ['10.0.0.1'],
      hostNetwork: false,
      volumeMounts: [{ name: 'etc', mountPath: '/etc/hosts.d' }],
      gets: true,
    },
  ])('$case', ({ ips, hostNetwork, volumeMounts, gets }) => {
    expect(wantsHostsFile(aPod({ spec: { hostNetwork } }), { volumeMounts }, ips)).toBe(gets);
  });
});
