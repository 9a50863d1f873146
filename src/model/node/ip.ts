import { isIpv4, isIpv6 } from '../values/ip-address.js';

/** An IP address by its bits: IPv4 has 4 bytes, IPv6 16. */
export interface Ip {
  readonly family: 4 | 6;
  readonly bytes: readonly number[];
}

/** Parses an address; undefined if it is invalid. An IPv4 address within IPv6 is an IPv4 address, as in Go. */
export const parseIp = (text: string): Ip | undefined => {
  if (isIpv4(text)) return { family: 4, bytes: text.split('.').map(Number) };
  if (!isIpv6(text)) return undefined;
  const [head = '', tail] = text.split('::');
  const [before, after] = [groupsOf(head), groupsOf(tail ?? '')];
  const zeros = tail === undefined ? 0 : 16 - before.length - after.length;
  const bytes = [...before, ...Array<number>(zeros).fill(0), ...after];
  const isMapped = bytes.slice(0, 10).every((byte) => byte === 0) && bytes[10] === 0xff && bytes[11] === 0xff;
  return isMapped ? { family: 4, bytes: bytes.slice(12) } : { family: 6, bytes };
};

/**
 * Formats an address: the longest run of zeros is left out, letters are lower-case. Source: RFC 5952, Go's
 * net.IP.String
 */
export const formatIp = ({ family, bytes }: Ip): string => {
  if (family === 4) return bytes.join('.');
  const groups = Array.from({ length: 8 }, (_, at) => (bytes[2 * at] ?? 0) * 256 + (bytes[2 * at + 1] ?? 0));
  let [from, length] = [-1, 1];
  for (let at = 0; at < groups.length; at += 1) {
    const end = groups.findIndex((group, index) => index >= at && group !== 0);
    const run = (end < 0 ? groups.length : end) - at;
    if (run > length) [from, length] = [at, run];
  }
  const hex = groups.map((group) => group.toString(16));
  return from < 0 ? hex.join(':') : `${hex.slice(0, from).join(':')}::${hex.slice(from + length).join(':')}`;
};

export const isSameIp = (one: Ip, other: Ip): boolean => formatIp(one) === formatIp(other);

export const isUnspecified = ({ bytes }: Ip): boolean => bytes.every((byte) => byte === 0);

export const isLoopback = ({ family, bytes }: Ip): boolean =>
  family === 4 ? bytes[0] === 127 : bytes.every((byte, at) => byte === (at === 15 ? 1 : 0));

export const isMulticast = ({ family, bytes: [first = 0] }: Ip): boolean =>
  family === 4 ? first >= 224 && first <= 239 : first === 0xff;

export const isLinkLocal = ({ family, bytes: [first, second = 0] }: Ip): boolean =>
  family === 4 ? first === 169 && second === 254 : first === 0xfe && second >= 0x80 && second <= 0xbf;

/** Whether other machines can reach the address, in a private network too. Source: Go's net.IP.IsGlobalUnicast */
export const isGlobalUnicast = (ip: Ip): boolean =>
  !isUnspecified(ip) &&
  !isLoopback(ip) &&
  !isMulticast(ip) &&
  !isLinkLocal(ip) &&
  !(ip.family === 4 && ip.bytes.every((byte) => byte === 255));

/** Bytes of the groups of one side of `::`. */
const groupsOf = (side: string): readonly number[] =>
  side === ''
    ? []
    : side.split(':').flatMap((group) => {
        if (group.includes('.')) return group.split('.').map(Number);
        const value = Number.parseInt(group, 16);
        return [value >> 8, value & 255];
      });
