import { isIpv4 } from '../values/ip-address.js';
import type { NodeFacts, ResolvConf } from '../node/node-facts.js';
import { formatPod, type Pod } from '../pod/pod.js';

export type { ResolvConf };

export interface PodDns {
  readonly config: { servers: string[]; searches: string[]; options: string[] };
  /** Warning events about the pod. */
  readonly warnings: readonly { readonly reason: string; readonly message: string }[];
}

/** A setting that the node lacks. A pod that needs it gets the same message with its name in front. */
export const MISSING_CLUSTER_DNS = {
  reason: 'MissingClusterDNS',
  message:
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. Falling back to "Default" policy.',
} as const;

const [MAX_SERVERS, MAX_SEARCHES, MAX_SEARCH_LENGTH, MAX_LINE_LENGTH] = [3, 32, 253, 2048];

/**
 * Reads resolv.conf: every nameserver, the last search line, all options. Errors: throws on a nameserver without an
 * address; the error names the line. Source: pkg/kubelet/network/dns/dns.go parseResolvConf.
 */
export const parseResolvConf = (text: string): ResolvConf => {
  const servers: string[] = [];
  let searches: readonly string[] = [];
  const options = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [keyword, ...values] = line.trim().split(/\s+/);
    if (keyword?.startsWith('#')) continue;
    if (keyword === 'nameserver') {
      if (values[0] === undefined) throw new Error(`resolv.conf line ${index + 1}: a nameserver without an address`);
      servers.push(values[0]);
    } else if (keyword === 'search') {
      searches = values.map((search) => (search === '.' ? '' : search.replace(/\.$/, ''))).filter(Boolean);
    } else if (keyword === 'options') {
      for (const option of values) options.set(nameOf(option), option);
    }
  }
  return { servers, searches, options: [...options.values()] };
};

/** Source: pkg/kubelet/network/dns/dns.go GetPodDNS. */
export const podDns = (
  pod: Pod,
  {
    resolvConf,
    clusterDns,
    hasCluster,
    clusterDomain,
    nodeIps,
    sharesNetwork = false,
  }: Pick<NodeFacts, 'resolvConf' | 'clusterDns' | 'hasCluster' | 'clusterDomain' | 'nodeIps' | 'sharesNetwork'>,
): PodDns => {
  const warnings: { reason: string; message: string }[] = [];
  const host = resolvConf ?? { servers: [], searches: [], options: [] };
  // A zone is an interface of the machine, which another network has not: each look-up would first wait for that server.
  const reaches = (server: string): boolean => Boolean(pod.spec.hostNetwork) || sharesNetwork || !server.includes('%');
  const ofHost = (): ResolvConf =>
    resolvConf
      ? { ...resolvConf, servers: resolvConf.servers.filter(reaches) }
      : {
          servers: (nodeIps.length > 0 ? nodeIps : ['127.0.0.1']).map(loopbackOf),
          searches: ['.'],
          options: [],
        };
  const base = (): ResolvConf => {
    switch (sourceOf(pod)) {
      case 'none':
        return { servers: [], searches: [], options: [] };
      case 'host':
        return ofHost();
      case 'cluster': {
        if (clusterDns.length === 0) {
          const { reason, message } = MISSING_CLUSTER_DNS;
          // A node without a cluster lacks nothing: its pods use the DNS servers of the machine.
          if (hasCluster !== false) warnings.push({ reason, message: `pod: "${formatPod(pod)}". ${message}` });
          return ofHost();
        }
        const ofCluster = [`${pod.metadata.namespace}.svc.${clusterDomain}`, `svc.${clusterDomain}`, clusterDomain];
        const searches = clusterDomain === '' ? host.searches : unique([...ofCluster, ...host.searches]);
        return { servers: clusterDns, searches, options: ['ndots:5'] };
      }
    }
  };
  const config = withPodConfig(pod, base());
  return { ...limited(config, warnings), warnings };
};

const sourceOf = ({ spec }: Pod): 'none' | 'host' | 'cluster' => {
  switch (spec.dnsPolicy) {
    case 'None':
      return 'none';
    case 'Default':
      return 'host';
    case 'ClusterFirst':
    case undefined:
      return spec.hostNetwork ? 'host' : 'cluster';
    default:
      return 'cluster';
  }
};

/** Removes duplicates only if the pod itself adds entries. Source: dns.go appendDNSConfig. */
const withPodConfig = ({ spec: { dnsConfig } }: Pod, base: ResolvConf): ResolvConf => {
  if (dnsConfig === undefined) return base;
  const { servers, searches, options } = base;
  const own = (dnsConfig.options ?? []).map(({ name = '', value }) => (value ? `${name}:${value}` : name));
  return {
    servers: unique([...servers, ...(dnsConfig.nameservers ?? [])]),
    searches: unique([...searches, ...(dnsConfig.searches ?? [])]),
    options: [...new Map([...options, ...own].map((option) => [nameOf(option), option])).values()],
  };
};

/** Cuts entries that a resolver would ignore, and returns an event about each kind. */
const limited = (
  { servers, searches, options }: ResolvConf,
  warnings: { reason: string; message: string }[],
): Pick<PodDns, 'config'> => {
  const keptServers = servers.slice(0, MAX_SERVERS);
  if (keptServers.length < servers.length) {
    const message = `Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: ${keptServers.join(' ')}`;
    warnings.push({ reason: 'DNSConfigForming', message });
  }
  const keptSearches = searches.slice(0, MAX_SEARCHES).filter(({ length }) => length <= MAX_SEARCH_LENGTH);
  while (keptSearches.join(' ').length > MAX_LINE_LENGTH) keptSearches.pop();
  if (keptSearches.length < searches.length) {
    const message = `Search Line limits were exceeded, some search paths have been omitted, the applied search line is: ${keptSearches.join(' ')}`;
    warnings.push({ reason: 'DNSConfigForming', message });
  }
  return { config: { servers: keptServers, searches: keptSearches, options: [...options] } };
};

const nameOf = (option: string): string => option.split(':')[0]!;
const unique = (items: readonly string[]): readonly string[] => [...new Set(items)];
const loopbackOf = (ip: string): string => (isIpv4(ip) ? '127.0.0.1' : '::1');
