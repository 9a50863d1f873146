import { type Container, type ContainerPort, isSidecar, type PodSpec } from '../pod/pod.js';
import { isIpAddress } from '../values/ip-address.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkText, checkUnique, DNS_LABEL, DNS_SUBDOMAIN } from './names.js';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/**
 * Validates host names, name resolution and ports of the node. Source: pkg/apis/core/validation/validation.go
 * ValidatePodSpec.
 */
export function* validatePodNetwork(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  if (spec.hostname) yield* checkText(spec.hostname, DNS_LABEL, [...path, 'hostname']);
  if (spec.subdomain) yield* checkText(spec.subdomain, DNS_LABEL, [...path, 'subdomain']);
  if (spec.hostnameOverride !== undefined) {
    const at = [...path, 'hostnameOverride'];
    yield* checkText(spec.hostnameOverride, { ...DNS_SUBDOMAIN, maxLength: 64 }, at);
    if (spec.hostNetwork) yield issue(at, 'is set beside hostNetwork', 'only one of the two');
    if (spec.setHostnameAsFQDN) yield issue(at, 'is set beside setHostnameAsFQDN', 'only one of the two');
  }
  const dnsPolicies = ['ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'];
  yield* checkOneOf(spec.dnsPolicy, dnsPolicies, [...path, 'dnsPolicy']);
  yield* validateDnsConfig(spec, [...path, 'dnsConfig']);
  for (const [index, { ip, hostnames }] of (spec.hostAliases ?? []).entries()) {
    const at = [...path, 'hostAliases', index];
    if (!isIpAddress(ip)) yield issue([...at, 'ip'], `is ${JSON.stringify(ip)}`, 'an IP address');
    for (const [item, name] of (hostnames ?? []).entries()) {
      yield* checkText(name, DNS_SUBDOMAIN, [...at, 'hostnames', item]);
    }
  }
  yield* validateHostPorts(spec, path);
}

function* validateDnsConfig({ dnsConfig, dnsPolicy }: PodSpec, path: FieldPath): Generator<FieldIssue> {
  const { nameservers = [], searches = [], options = [] } = dnsConfig ?? {};
  if (dnsPolicy === 'None' && nameservers.length === 0) {
    yield issue([...path, 'nameservers'], 'is missing', 'at least one name server beside dnsPolicy None');
  }
  if (nameservers.length > MAX_NAMESERVERS) {
    yield issue([...path, 'nameservers'], `has ${nameservers.length} entries`, `at most ${MAX_NAMESERVERS}`);
  }
  for (const [index, server] of nameservers.entries()) {
    if (isIpAddress(server)) continue;
    yield issue([...path, 'nameservers', index], `is ${JSON.stringify(server)}`, 'an IP address');
  }
  if (searches.length > MAX_SEARCHES) {
    yield issue([...path, 'searches'], `has ${searches.length} entries`, `at most ${MAX_SEARCHES}`);
  }
  if (searches.join(' ').length > MAX_SEARCH_CHARACTERS) {
    yield issue([...path, 'searches'], 'is too long', `at most ${MAX_SEARCH_CHARACTERS} characters in all`);
  }
  for (const [index, search] of searches.entries()) {
    // A search list may contain the root alone, a trailing dot and underscores.
    const plain =
      search === '.'
        ? 'root'
        : search
            .replace(/\.$/, '')
            // A label may begin with one underscore, if more follows, and contain others.
            .replace(/(^|\.)_(?=[a-z0-9])/g, '$1')
            .replace(/(?<=[a-z0-9_-])_(?=[a-z0-9_-])/g, '-');
    if (plain !== '' && DNS_SUBDOMAIN.pattern.test(plain) && plain.length <= DNS_SUBDOMAIN.maxLength) continue;
    yield issue([...path, 'searches', index], `is ${JSON.stringify(search)}`, 'a domain name');
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) yield issue([...path, 'options', index, 'name'], 'is missing', 'the name of a resolver option');
  }
}

/**
 * Finds conflicts of host ports. Two containers cannot have the same port of the node, and on the node's network every
 * port is a port of the node.
 */
function* validateHostPorts(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  const ports = [
    ...spec.containers.map((container, index) => ({ container, at: [...path, 'containers', index] })),
    ...(spec.initContainers ?? []).map((container, index) => ({ container, at: [...path, 'initContainers', index] })),
  ].flatMap(({ container, at }) =>
    (container.ports ?? []).map((port, index) => ({ container, port, at: [...at, 'ports', index] })),
  );
  if (spec.hostNetwork) {
    // The API does not check this for init containers.
    for (const { port, at } of ports.filter((placed) => placed.at[path.length] === 'containers')) {
      if (port.hostPort === undefined || port.hostPort === port.containerPort) continue;
      yield issue(
        [...at, 'hostPort'],
        `is ${port.hostPort}`,
        `${port.containerPort}, the containerPort, beside hostNetwork`,
      );
    }
  }
  const isAtOnce = ({ container, at }: PlacedPort): boolean => at[path.length] === 'containers' || isSidecar(container);
  const taken = ports.filter(({ port }) => port.hostPort);
  yield* checkHostPorts(taken.filter(isAtOnce));
  // One init container runs at a time, so only its own ports conflict.
  for (const container of spec.initContainers ?? []) {
    if (!isSidecar(container)) yield* checkHostPorts(taken.filter((port) => port.container === container));
  }
}

interface PlacedPort {
  readonly container: Container;
  readonly port: ContainerPort;
  readonly at: FieldPath;
}

const checkHostPorts = (ports: readonly PlacedPort[]): Generator<FieldIssue> =>
  checkUnique(
    ports.map(({ port: { hostIP, hostPort, protocol }, at }) => ({
      key: `${hostIP ? `${hostIP}:` : ''}${hostPort}/${protocol}`,
      path: [...at, 'hostPort'],
    })),
    'port of the node',
  );
