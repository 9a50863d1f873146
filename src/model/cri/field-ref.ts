import { isIpv4 } from '../values/ip-address.js';
import type { NodeFacts } from '../node/node-facts.js';
import type { Pod } from '../pod/pod.js';
import { CreateContainerConfigError } from './create-container-config-error.js';
import { goQuote } from './go-quote.js';

/**
 * Returns the value of a `fieldRef` of a container. `podIps` are those of the sandbox.
 *
 * Errors: `CreateContainerConfigError` for a path that cannot be read at run time.
 * Source: pkg/kubelet/kubelet_pods.go podFieldSelectorRuntimeValue, pkg/fieldpath/fieldpath.go.
 */
export const fieldRefValue = (
  pod: Pod,
  fieldPath: string,
  podIps: readonly string[],
  { nodeIps }: Pick<NodeFacts, 'nodeIps'>,
): string => {
  const { metadata, spec } = pod;
  const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/.exec(fieldPath);
  if (subscript) return metadata[subscript[1] as 'labels' | 'annotations']?.[subscript[2]!] ?? '';

  const ips = podIpsFor(pod, podIps, nodeIps);
  switch (fieldPath) {
    case 'metadata.name':
      return metadata.name;
    case 'metadata.namespace':
      return metadata.namespace;
    case 'metadata.uid':
      return metadata.uid;
    case 'metadata.labels':
      return formatMap(metadata.labels);
    case 'metadata.annotations':
      return formatMap(metadata.annotations);
    case 'spec.nodeName':
    case 'spec.host':
      return spec.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec.serviceAccountName ?? '';
    case 'status.hostIP':
      return known(nodeIps)[0]!;
    case 'status.hostIPs':
      return known(nodeIps).join(',');
    case 'status.podIP':
      return ips[0] ?? '';
    case 'status.podIPs':
      return ips.join(',');
    default:
      throw new CreateContainerConfigError(`unsupported fieldPath: ${fieldPath}`);
  }
};

/** Returns one address per family, the node's family first. Source: pkg/kubelet/kubelet_pods.go sortPodIPs. */
const podIpsFor = (pod: Pod, podIps: readonly string[], nodeIps: readonly string[]): readonly string[] => {
  const ips = pod.spec.hostNetwork ? nodeIps : podIps;
  const [ipv4, ipv6] = [ips.find(isIpv4), ips.find((ip) => !isIpv4(ip))];
  const ipv4First = nodeIps[0] === undefined || isIpv4(nodeIps[0]);
  return (ipv4First ? [ipv4, ipv6] : [ipv6, ipv4]).filter((ip) => ip !== undefined);
};

const known = (nodeIps: readonly string[]): readonly string[] => {
  if (nodeIps.length > 0) return nodeIps;
  throw new CreateContainerConfigError('cannot get host IP address: the node has none');
};

/** One `key="value"` per line, sorted. Source: pkg/fieldpath/fieldpath.go FormatMap. */
const formatMap = (map: Readonly<Record<string, string>> = {}): string =>
  Object.keys(map)
    .sort()
    .map((key) => `${key}=${goQuote(map[key]!)}`)
    .join('\n');
