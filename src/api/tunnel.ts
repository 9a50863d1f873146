import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { connect, isIP, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { hostOf, portOf } from './proxy-for.js';

export interface Target {
  readonly host: string;
  readonly port: number;
}

/**
 * A connection to `target` through a proxy: by CONNECT, or by SOCKS 5 where its URL says so. Errors: the proxy cannot be reached or
 * refuses; the message names it, without its password.
 */
export const openTunnel = (proxy: URL, target: Target, signal: AbortSignal): Promise<Duplex> =>
  proxy.protocol.startsWith('socks') ? socksTunnel(proxy, target, signal) : connectTunnel(proxy, target, signal);

const failed = (proxy: URL, why: string, cause?: unknown): Error =>
  new Error(`proxy ${proxy.protocol}//${proxy.host}: ${why}`, { cause });

/** Whoever gave up knows better than the socket. */
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

const SOCKS_REPLIES = [
  'succeeded',
  'general failure',
  'connection not allowed',
  'network unreachable',
  'host unreachable',
  'connection refused',
  'TTL expired',
  'command not supported',
  'address type not supported',
];

/** Source: RFC 1928, RFC 1929. Names are left to the proxy. */
const socksTunnel = async (proxy: URL, { host, port }: Target, signal: AbortSignal): Promise<Duplex> => {
  const socket = connect({ host: hostOf(proxy), port: portOf(proxy), signal });
  try {
    const read = reader(socket);
    const hasPassword = proxy.username !== '';
    socket.write(Buffer.from(hasPassword ? [5, 2, 0, 2] : [5, 1, 0]));
    const [, method] = await read(2);
    if (method === 2) {
      const [user, password] = [proxy.username, proxy.password].map((part) => Buffer.from(decodeURIComponent(part)));
      socket.write(Buffer.concat([Buffer.from([1, user!.length]), user!, Buffer.from([password!.length]), password!]));
      const [, refusal] = await read(2);
      if (refusal !== 0) throw new Error('refuses the user name and password');
    } else if (method !== 0) throw new Error('asks for a way to authenticate that is not supported');
    const name = Buffer.from(host);
    const address = isIP(host) === 4 ? [1, ...host.split('.').map(Number)] : [3, name.length, ...name];
    socket.write(Buffer.from([5, 1, 0, ...address, port >> 8, port & 255]));
    const [, reply = 1, , kind] = await read(4);
    if (reply !== 0) throw new Error(SOCKS_REPLIES[reply] ?? `reply ${reply}`);
    // Where it is bound to is of no interest, but has to be read.
    const length = kind === 1 ? 4 : kind === 4 ? 16 : (await read(1))[0]!;
    await read(length + 2);
    read.end();
    return socket;
  } catch (error) {
    socket.destroy();
    throw failed(proxy, reasonOf(error as Error, signal), error);
  }
};

/** Reads so many bytes and no more; what comes after them stays in the socket. */
const reader = (socket: Socket) => {
  let failure: Error | undefined;
  let wake = (): void => undefined;
  const onError = (error: Error): void => {
    failure = error;
    wake();
  };
  const onReadable = (): void => wake();
  const onEnd = (): void => onError(new Error('closed the connection'));
  socket.on('error', onError).on('readable', onReadable).on('end', onEnd);
  const read = async (length: number): Promise<Buffer> => {
    for (;;) {
      if (failure) throw failure;
      const bytes = socket.read(length) as Buffer | null;
      if (bytes) return bytes;
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
  };
  return Object.assign(read, {
    end: () => socket.off('error', onError).off('readable', onReadable).off('end', onEnd),
  });
};
