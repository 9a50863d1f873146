import { once } from 'node:events';
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect } from 'node:net';
import type { Duplex } from 'node:stream';
import { hostOf, portOf } from './proxy-for.js';

/** The most that `setTimeout` takes. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * Opens a connection to `target` through a proxy: by CONNECT, or by SOCKS 5 if its scheme is `socks…`. Errors: the proxy cannot be
 * reached or refuses; the message names it, without its password.
 */
export const openTunnel = (proxy: URL, target: Target, signal: AbortSignal): Promise<Duplex> =>
  proxy.protocol.startsWith('socks') ? socksTunnel(proxy, target, signal) : connectTunnel(proxy, target, signal);

const failed = (proxy: URL, why: string, cause?: unknown): Error =>
  new Error(`proxy ${proxy.protocol}//${proxy.host}: ${why}`, { cause });

/** The reason of the cancellation is more precise than the error of the socket. */
const reasonOf = (error: Error, { aborted, reason }: AbortSignal): string =>
  aborted ? (reason as Error).message : error.message;

const connectTunnel = (proxy: URL, { host, port }: Target, signal: AbortSignal): Promise<Duplex> =>
  new Promise((resolve, reject) => {
    const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`;
    const request = (proxy.protocol === 'https:' ? requestHttps : requestHttp)({
      host: hostOf(proxy),
      port: portOf(proxy),
      method: 'CONNECT',
      path: authority,
      agent: false,
      signal,
      headers: { host: authority, ...(proxy.username !== '' && { 'proxy-authorization': basicOf(proxy) }) },
    });
    request.on('connect', ({ statusCode = 0, statusMessage = '' }, socket: Duplex) => {
      if (statusCode === 200) return resolve(socket);
      socket.destroy();
      reject(failed(proxy, `${statusCode} ${statusMessage}`.trim()));
    });
    request.on('response', ({ statusCode = 0, statusMessage = '' }) => {
      request.destroy();
      reject(failed(proxy, `${statusCode} ${statusMessage}`.trim()));
    });
    request.on('error', (error) => reject(failed(proxy, reasonOf(error, signal), error)));
    request.end();
  });

const basicOf = ({ username, password }: URL): string =>
  `Basic ${Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`).toString('base64')}`;

/** Opens a connection by SOCKS 5; the proxy resolves names. */
const socksTunnel = async (proxy: URL, destination: Target, signal: AbortSignal): Promise<Duplex> => {
  // Few configurations have such a proxy.
  const { SocksClient } = await import('socks');
  const [host, port] = [hostOf(proxy), portOf(proxy)];
  const socket = connect({ host, port, signal });
  try {
    await once(socket, 'connect');
    const [userId, password] = [proxy.username, proxy.password].map(decodeURIComponent);
    const login = proxy.username === '' ? {} : { userId, password };
    // The signal ends the attempt.
    const limits = { existing_socket: socket, timeout: LONGEST_TIMER_MS };
    await SocksClient.createConnection({
      ...{ command: 'connect', proxy: { host, port, type: 5, ...login }, destination },
      ...limits,
    });
    return socket;
  } catch (error) {
    socket.on('error', () => undefined).destroy();
    throw failed(proxy, reasonOf(error as Error, signal), error);
  }
};
