import { formatIp, type Ip, isLoopback, parseIp } from './ip.js';
import type { NetworkFacts } from './machine-facts.js';

type Interfaces = NetworkFacts['interfaces'];

/** The kernel's tables, with the text of `/proc/net/<name>`; empty if there is none. */
export interface AddressTables {
  readonly fib_trie: string;
  readonly route: string;
  readonly if_inet6: string;
}

/**
 * Returns the interfaces whose addresses `known` lacks. Node, as libuv, leaves out those without a carrier, such as a bridge without
 * members; for Go's `net.InterfaceAddrs` they count. An IPv4 address is on the interface of its subnet; the name is empty if no route
 * leads there.
 */
export const silentInterfaces = (known: Interfaces, { fib_trie, route, if_inet6 }: AddressTables): Interfaces => {
  const isKnown = new Set(
    known.flatMap(({ addresses }) => addresses.flatMap((text) => parseIp(text) ?? []).map(formatIp)),
  );
  const found = new Map<string, Ip[]>();
  const add = (name: string, ip: Ip): void => {
    const text = formatIp(ip);
    if (isKnown.has(text)) return;
    isKnown.add(text);
    found.set(name, [...(found.get(name) ?? []), ip]);
  };
  const subnets = subnetsOf(route);
  for (const ip of localAddresses(fib_trie)) add(isLoopback(ip) ? 'lo' : interfaceOf(ip, subnets), ip);
  for (const [name, ip] of ipv6Addresses(if_inet6)) add(name, ip);
  return [...found].map(([name, ips]) => ({
    name,
    isLoopback: ips.some(isLoopback),
    addresses: ips.map(formatIp),
  }));
};

/** The leaves of the kernel's tree of routes: an address, and below it `/32 host LOCAL` if it is one of this machine. */
const LOCAL_LEAF = /\|-- ([\d.]+)\n(?:\s+\/\d+ (?!host LOCAL).*\n)*\s+\/32 host LOCAL/g;

const localAddresses = (trie: string): readonly Ip[] =>
  [...trie.matchAll(LOCAL_LEAF)].flatMap(([, text = '']) => parseIp(text) ?? []);

interface Subnet {
  readonly name: string;
  readonly destination: number;
  readonly mask: number;
}

/** The directly connected subnets, the smallest first. */
const subnetsOf = (table: string): readonly Subnet[] =>
  table
    .split('\n')
    .slice(1)
    .flatMap((line): readonly Subnet[] => {
      const [name, destination, gateway, , , , , mask] = line.trim().split(/\s+/);
      if (name === undefined || destination === undefined || mask === undefined) return [];
      if (gateway !== '00000000' || mask === '00000000') return [];
      return [{ name, destination: swapped(destination), mask: swapped(mask) }];
    })
    .toSorted((one, other) => other.mask - one.mask);

/** The kernel prints an address as a number of this machine, on which the first byte is the lowest. */
const swapped = (hex: string): number =>
  bitsOf((hex.match(/../g) ?? []).toReversed().map((byte) => Number.parseInt(byte, 16)));

const bitsOf = (bytes: readonly number[]): number => bytes.reduce((bits, byte) => bits * 256 + byte, 0);

const interfaceOf = ({ bytes }: Ip, subnets: readonly Subnet[]): string =>
  subnets.find(({ destination, mask }) => (bitsOf(bytes) & mask) >>> 0 === destination)?.name ?? '';

const ipv6Addresses = (table: string): readonly (readonly [name: string, ip: Ip])[] =>
  table.split('\n').flatMap((line) => {
    const [hex = '', , , , , name] = line.trim().split(/\s+/);
    const ip = parseIp((hex.match(/.{4}/g) ?? []).join(':'));
    return ip && name !== undefined ? [[name, ip] as const] : [];
  });
