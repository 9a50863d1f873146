import { BlockList, isIP } from 'node:net';

/**
 * Returns the proxy for a server from the environment: HTTPS_PROXY or HTTP_PROXY by the scheme of the server; undefined for hosts
 * of NO_PROXY, for this machine and without a variable. Errors: the proxy is no URL; the message names the variable.
 *
 * Source: golang.org/x/net/http/httpproxy/proxy.go
 */
export const proxyFor = (server: URL, env: NodeJS.ProcessEnv): URL | undefined => {
  const name = server.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const value = env[name] || env[name.toLowerCase()] || '';
  if (value === '' || isLoopback(hostOf(server)) || isExcepted(server, env.NO_PROXY || env.no_proxy || '')) {
    return undefined;
  }
  const url = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  if (!URL.canParse(url)) throw new Error(`${name}: expected the URL of a proxy, found ${JSON.stringify(value)}`);
  return new URL(url);
};

/** Returns the host; an IPv6 address without its brackets. */
export const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '').toLowerCase();

export const portOf = ({ port, protocol }: URL): number =>
  port === '' ? ({ 'https:': 443, 'http:': 80 }[protocol] ?? 1080) : Number(port);

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

const isExcepted = (server: URL, noProxy: string): boolean =>
  noProxy
    .split(',')
    .map((entry) => entry.trim().toLowerCase())
    .some((entry) => entry !== '' && names(entry, hostOf(server), portOf(server)));

const names = (entry: string, host: string, port: number): boolean => {
  if (entry === '*') return true;
  const range = /^(.+)\/(\d+)$/.exec(entry);
  if (range) return isInRange(host, range[1]!, Number(range[2]));
  const { name, only } = splitPort(entry);
  if (only !== undefined && only !== port) return false;
  if (isIP(name) !== 0) return name === host;
  const domain = name.replace(/^\*/, '');
  return domain.startsWith('.') ? host.endsWith(domain) : host === domain || host.endsWith(`.${domain}`);
};

const isInRange = (host: string, network: string, bits: number): boolean => {
  const family = isIP(network);
  if (family === 0 || isIP(host) !== family || bits > (family === 4 ? 32 : 128)) return false;
  const type = family === 4 ? 'ipv4' : 'ipv6';
  const list = new BlockList();
  list.addSubnet(network, bits, type);
  return list.check(host, type);
};

/** `name`, `name:port`, `[address]` or `[address]:port`. */
const splitPort = (entry: string): { readonly name: string; readonly only?: number } => {
  if (isIP(entry) !== 0) return { name: entry };
  const [, bracketed, plain, port] = /^(?:\[(.+)\]|([^:]+))(?::(\d+))?$/.exec(entry) ?? [];
  const name = bracketed ?? plain ?? entry;
  return port === undefined ? { name } : { name, only: Number(port) };
};
