import { isIP } from 'node:net';

export interface OwnNames {
  /** The local address of the connection. */
  readonly localAddress: string | undefined;
  /** The names of the node, and its other addresses. */
  readonly names: readonly string[];
}

/**
 * Whether a request is for this node: its host is a name or address of loopback or of the node. A web page whose own
 * name resolves to an address of this machine is recognized by that name.
 */
export const isOwnHost = (host: string, { localAddress, names }: OwnNames): boolean => {
  const name = hostnameOf(host);
  if (name === undefined) return false;
  if (name === 'localhost' || name === '::1' || (isIP(name) === 4 && name.startsWith('127.'))) return true;
  return [localAddress?.replace(/^::ffff:/, ''), ...names].some((own) => own !== undefined && hostnameOf(own) === name);
};

/** Whether a connection that has arrived at this local address comes from a process of this machine. */
export const isLoopbackAddress = (localAddress: string | undefined): boolean =>
  localAddress !== undefined && /^(::ffff:)?127\.|^::1$/.test(localAddress);

/** Removes port, brackets and the final dot from `LocalHost.:80`, `[::1]:80` and `::1`, and converts to lower case. */
const hostnameOf = (host: string): string | undefined => {
  const authority = isIP(host) === 6 ? `[${host}]` : host;
  if (!/^[^/\\?#@\s]+$/.test(authority) || !URL.canParse(`http://${authority}`)) return undefined;
  return new URL(`http://${authority}`).hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
};
