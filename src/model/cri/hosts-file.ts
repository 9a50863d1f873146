import type { NodeFacts } from '../node/node-facts.js';
import type { Container, Pod } from '../pod/pod.js';
import { podHostname } from './hostname.js';

/** The path of the file, on the node and in every container. */
export const HOSTS_PATH = '/etc/hosts';

/** Tools recognize the author of the file by the first line. */
const HEADER = '# Kubernetes-managed hosts file.';
const HOST_NETWORK_HEADER = '# Kubernetes-managed hosts file (host network).';
const ALIASES_HEADER = '# Entries added by HostAliases.';

/** Names that every machine has for itself. */
const LOCAL_NAMES = [
  ['127.0.0.1', 'localhost'],
  ['::1', 'localhost ip6-localhost ip6-loopback'],
  ['fe00::0', 'ip6-localnet'],
  ['fe00::0', 'ip6-mcastprefix'],
  ['fe00::1', 'ip6-allnodes'],
  ['fe00::2', 'ip6-allrouters'],
] as const;

/**
 * Whether the container gets the pod's hosts file: once the pod has addresses, unless a volume is mounted at its path.
 *
 * Source: pkg/kubelet/kubelet_pods.go shouldMountHostsFile, makeMounts
 */
export const wantsHostsFile = (
  { spec }: Pod,
  { volumeMounts = [] }: Pick<Container, 'volumeMounts'>,
  podIps: readonly string[],
): boolean =>
  (podIps.length > 0 || spec.hostNetwork === true) && volumeMounts.every(({ mountPath }) => mountPath !== HOSTS_PATH);

/**
 * The hosts file of a pod with a network of its own. Addresses have the order of the runtime.
 *
 * Source: pkg/kubelet/kubelet_pods.go managedHostsFileContent
 */
export const podHostsContent = (
  pod: Pod,
  podIps: readonly string[],
  { clusterDomain }: Pick<NodeFacts, 'clusterDomain'>,
): string => {
  const { hostname, domain } = podHostname(pod, clusterDomain);
  const names = domain === '' ? [hostname] : [`${hostname}.${domain}`, hostname];
  return lines([HEADER], ...LOCAL_NAMES, ...podIps.map((ip) => [ip, ...names])) + aliases(pod);
};

/**
 * The hosts file of a pod on the network of the node, whose own file is `nodeContent`.
 *
 * Source: pkg/kubelet/kubelet_pods.go nodeHostsFileContent
 */
export const hostNetworkHostsContent = (pod: Pod, nodeContent: string): string =>
  lines([HOST_NETWORK_HEADER]) + nodeContent + aliases(pod);

/** Source: pkg/kubelet/kubelet_pods.go hostsEntriesFromHostAliases */
const aliases = ({ spec: { hostAliases = [] } }: Pod): string =>
  hostAliases.length === 0
    ? ''
    : lines([], [ALIASES_HEADER], ...hostAliases.map(({ ip, hostnames = [] }) => [ip, hostnames.join('\t')]));

const lines = (...rows: readonly (readonly string[])[]): string => rows.map((row) => `${row.join('\t')}\n`).join('');
