import { isSidecar, type PodSpec } from '../pod.js';
import { isIpAddress } from '../ip-address.js';
import { type FieldIssue, type FieldPath, issue } from './field-issue.js';
import { checkOneOf, checkText, checkUnique, DNS_LABEL, DNS_SUBDOMAIN } from './names.js';

const MAX_NAMESERVERS = 3;
const MAX_SEARCHES = 32;
const MAX_SEARCH_CHARACTERS = 2048;

/** Host names, name resolution and ports of the node. Source: pkg/apis/core/validation/validation.go ValidatePodSpec. */
export function* validatePodNetwork(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  if (spec.hostname) yield* checkText(spec.hostname, DNS_LABEL, [...path, 'hostname']);
  if (spec.subdomain) yield* checkText(spec.subdomain, DNS_LABEL, [...path, 'subdomain']);
  if (spec.hostnameOverride) {
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
    // The root on its own, a trailing dot and underscores are fine in a search list.
    const plain =
      search === '.'
        ? 'root'
        : search
            .replace(/\.$/, '')
            .replaceAll('_', '-')
            .replace(/(^|\.)-/g, '$1x');
    if (plain !== '' && DNS_SUBDOMAIN.pattern.test(plain) && plain.length <= DNS_SUBDOMAIN.maxLength) continue;
    yield issue([...path, 'searches', index], `is ${JSON.stringify(search)}`, 'a domain name');
  }
  for (const [index, { name }] of options.entries()) {
    if (!name) yield issue([...path, 'options', index, 'name'], 'is missing', 'the name of a resolver option');
  }
}

/** Two containers cannot have the same port of the node, and on the node's network every port is one of the node. */
function* validateHostPorts(spec: PodSpec, path: FieldPath): Generator<FieldIssue> {
  const ports = [
    ...spec.containers.map((container, index) => ({ container, at: [...path, 'containers', index] })),
    ...(spec.initContainers ?? []).map((container, index) => ({ container, at: [...path, 'initContainers', index] })),
  ].flatMap(({ container, at }) =>
    (container.ports ?? []).map((port, index) => ({ container, port, at: [...at, 'ports', index] })),
  );
  if (spec.hostNetwork) {
    for (const { port, at } of ports) {
      if (port.hostPort === undefined || port.hostPort === port.containerPort) continue;
      yield issue(
        [...at, 'hostPort'],
        `is ${port.hostPort}`,
        `${port.containerPort}, the containerPort, beside hostNetwork`,
      );
    }
  }
  const atOnce = ports.filter(
    ({ container, port, at }) => port.hostPort && (at[path.length] === 'containers' || isSidecar(container)),
  );
  yield* checkUnique(
    atOnce.map(({ port: { hostIP, hostPort, protocol }, at }) => ({
      key: `${hostIP ? `${hostIP}:` : ''}${hostPort}/${protocol}`,
      path: [...at, 'hostPort'],
    })),
    'port of the node',
  );
}
