import {
  formatIp,
  type Ip,
  isGlobalUnicast,
  isLinkLocal,
  isLoopback,
  isMulticast,
  isSameIp,
  isUnspecified,
  parseIp,
} from './ip.js';
import type { NetworkFacts } from './machine-facts.js';
import type { NodeAddress } from './node.js';
import type { NodeObjectSettings } from './node-settings.js';

/** The value of `--node-ip`. */
export interface NodeIps {
  readonly nodeIps: readonly string[];
  /** The invalid addresses, which are logged and ignored. */
  readonly invalid: readonly string[];
}

/**
 * Parses the addresses of `--node-ip`, at most one of each family: `0.0.0.0` or `::` only states the preferred family.
 *
 * Errors: throws an Error that begins with `bad --node-ip`.
 * Source: staging/src/k8s.io/component-helpers/node/util/ips.go ParseNodeIPArgument, cmd/kubelet/app/server.go
 */
export const parseNodeIps = (text: string): NodeIps => {
  const parts = text === '' ? [] : text.split(',').map((part) => part.trim());
  const parsed = parts.map((part) => ({ part, ip: parseIp(part) }));
  const ips = parsed.flatMap(({ ip }) => (ip ? [ip] : []));
  const problem =
    ips.length > 2 || (ips.length === 2 && ips[0]?.family === ips[1]?.family)
      ? 'must contain either a single IP or a dual-stack pair of IPs'
      : ips.length === 2 && ips.some(isUnspecified)
        ? "dual-stack node IP cannot include '0.0.0.0' or '::'"
        : undefined;
  if (problem !== undefined) throw new Error(`bad --node-ip ${JSON.stringify(text)}: ${problem}`);
  return { nodeIps: ips.map(formatIp), invalid: parsed.flatMap(({ part, ip }) => (ip ? [] : [part])) };
};

type Choice =
  | { readonly kind: 'addresses'; readonly addresses: readonly NodeAddress[] }
  | { readonly kind: 'problem'; readonly problem: string };

type AddressSettings = Pick<NodeObjectSettings, 'nodeName' | 'nodeIps' | 'externalCloudProvider'>;

/** The resolver's result for the name of the node; absent if the resolver was not called. */
export type LookedUp = readonly string[];

/** Whether the resolver has to look up the name of the node. */
export const needsLookup = ({ nodeName, nodeIps }: AddressSettings): boolean =>
  !nodeIps.some((text) => !isUnspecifiedText(text)) && parseIp(nodeName) === undefined;

/**
 * Returns the addresses of the node: those of the user, else its name if that is an address, else the resolver's result
 * for the name, else the address of the interface with the default route; and its name.
 *
 * With an external cloud provider the addresses of `before` stay. Until the provider has set them there is only the
 * name, unless a user gave an address.
 *
 * Source: pkg/kubelet/nodestatus/setters.go NodeAddress
 */
export const chooseAddresses = (
  settings: AddressSettings,
  network: NetworkFacts,
  lookedUp: LookedUp,
  before: readonly NodeAddress[],
): Choice => {
  const { nodeName, externalCloudProvider } = settings;
  const given = settings.nodeIps.flatMap((text) => parseIp(text) ?? []);
  const specified = given.filter((ip) => !isUnspecified(ip));
  const names = ['nodeIP', 'secondaryNodeIP'];
  for (const [at, ip] of specified.entries()) {
    const problem = nodeIpProblem(ip, network);
    if (problem !== undefined) return { kind: 'problem', problem: `failed to validate ${names[at]}: ${problem}` };
  }
  if (externalCloudProvider && before.length > 0) return { kind: 'addresses', addresses: before };
  const hostname: NodeAddress = { type: 'Hostname', address: nodeName };
  if (externalCloudProvider && given.length === 0) return { kind: 'addresses', addresses: [hostname] };
  const chosen = specified.length > 0 ? specified : chooseOne(nodeName, network, lookedUp, given[0]);
  if (typeof chosen === 'string') {
    return { kind: 'problem', problem: `can't get ip address of node ${nodeName}. error: ${chosen}` };
  }
  const addresses = chosen.map((ip) => ({ type: 'InternalIP', address: formatIp(ip) }));
  return { kind: 'addresses', addresses: [...addresses, hostname] };
};

/**
 * The user's addresses for a cloud provider that sets the addresses. Source: pkg/kubelet/nodestatus/setters.go
 * NodeAddress
 */
export const providedIpAnnotation = ({ nodeIps, externalCloudProvider }: AddressSettings): string | undefined => {
  const specified = nodeIps.filter((text) => !isUnspecifiedText(text));
  return externalCloudProvider && specified.length > 0 ? specified.join(',') : undefined;
};

/** One address, or the reason why there is none. */
const chooseOne = (
  nodeName: string,
  network: NetworkFacts,
  lookedUp: LookedUp,
  preference: Ip | undefined,
): readonly Ip[] | string => {
  const ofName = parseIp(nodeName);
  if (ofName) return [ofName];
  const preferred = preference?.family ?? 4;
  const usable = lookedUp
    .flatMap((text) => parseIp(text) ?? [])
    .filter((ip) => nodeIpProblem(ip, network) === undefined);
  const found = usable.find(({ family }) => family === preferred) ?? usable[0];
  if (found) return [found];
  const families: readonly (4 | 6)[] = preferred === 4 ? [4, 6] : [6, 4];
  const ofHost = network.defaultRoutes
    ? addressOfRoutes(network, network.defaultRoutes, families)
    : addressOfInterfaces(network, families);
  return typeof ofHost === 'string' ? ofHost : [ofHost];
};

/** Source: pkg/kubelet/kubelet_node_status.go validateNodeIP */
const nodeIpProblem = (ip: Ip, network: NetworkFacts): string | undefined => {
  if (isLoopback(ip)) return "nodeIP can't be loopback address";
  if (isMulticast(ip)) return "nodeIP can't be a multicast address";
  if (isLinkLocal(ip)) return "nodeIP can't be a link-local unicast address";
  if (isUnspecified(ip)) return "nodeIP can't be an all zeros address";
  const isHere = network.interfaces.some(({ addresses }) => ipsOf(addresses).some((one) => isSameIp(one, ip)));
  return isHere ? undefined : `node IP: ${JSON.stringify(formatIp(ip))} not found in the host's network interfaces`;
};

/**
 * If the routes lead only through link-local addresses, the loopback interface has the node's address.
 *
 * Source: staging/src/k8s.io/apimachinery/pkg/util/net/interface.go chooseHostInterfaceFromRoute
 */
const addressOfRoutes = (
  { interfaces }: NetworkFacts,
  routes: NonNullable<NetworkFacts['defaultRoutes']>,
  families: readonly (4 | 6)[],
): Ip | string => {
  if (routes.length === 0) return 'no default routes found in "/proc/net/route" or "/proc/net/ipv6_route"';
  for (const family of families) {
    for (const route of routes.filter((one) => one.family === family)) {
      const ofRoute = interfaces.filter(({ name }) => name === route.interface);
      const found =
        globalOf(ofRoute, family) ??
        globalOf(
          interfaces.filter(({ isLoopback: is }) => is),
          family,
        );
      if (found) return found;
    }
  }
  return 'unable to select an IP from default routes.';
};

/** Source: staging/src/k8s.io/apimachinery/pkg/util/net/interface.go chooseIPFromHostInterfaces */
const addressOfInterfaces = ({ interfaces }: NetworkFacts, families: readonly (4 | 6)[]): Ip | string => {
  const outward = interfaces.filter(({ isLoopback: is }) => !is);
  for (const family of families) {
    const found = globalOf(outward, family);
    if (found) return found;
  }
  return 'no acceptable interface with global unicast address found on host';
};

const globalOf = (interfaces: NetworkFacts['interfaces'], family: 4 | 6): Ip | undefined =>
  interfaces.flatMap(({ addresses }) => ipsOf(addresses)).find((ip) => ip.family === family && isGlobalUnicast(ip));

const ipsOf = (addresses: readonly string[]): readonly Ip[] => addresses.flatMap((text) => parseIp(text) ?? []);

const isUnspecifiedText = (text: string): boolean => {
  const ip = parseIp(text);
  return ip !== undefined && isUnspecified(ip);
};
