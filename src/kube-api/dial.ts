import { once } from 'node:events';
import { connect, isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, type SecureContext, type TLSSocket } from 'node:tls';
import { Observable } from 'rxjs';
import type { ApiIdentity } from './api-identity.js';
import { hostOf, portOf, proxyFor } from './proxy-for.js';
import { openTunnel } from './tunnel.js';

/** The time without data after which the kernel probes a connection. */
export const KEEP_ALIVE_MS = 30_000;

export interface DialLimits {
  /** The time limit for a connection, with its proxy. */
  readonly dialMs: number;
  readonly tlsHandshakeMs: number;
}

/** The address of a server, and the way to it. */
export interface DialTarget {
  readonly url: URL;
  readonly proxy: URL | undefined;
  readonly tls: ConnectionOptions;
}

/** Returns the target for an identity. Errors: an invalid URL of the proxy. */
export const dialTarget = (
  { server, proxyUrl, tlsServerName, insecureSkipTlsVerify }: ApiIdentity,
  env: NodeJS.ProcessEnv,
): DialTarget => {
  const url = new URL(server);
  return {
    url,
    proxy: proxyUrl === undefined ? proxyFor(url, env) : new URL(proxyUrl),
    tls: {
      rejectUnauthorized: insecureSkipTlsVerify !== true,
      // SNI has no IP addresses; the certificate is verified in either case.
      servername: tlsServerName ?? (isIP(hostOf(url)) === 0 ? hostOf(url) : ''),
    },
  };
};

/** Opens a tunnel through the proxy. Errors: those of the proxy; no tunnel in time; `closed` was aborted. */
export const dialProxy = (
  { url }: DialTarget,
  proxy: URL,
  { dialMs }: DialLimits,
  closed?: AbortSignal,
): Promise<Duplex> =>
  within({ limitMs: dialMs, what: 'no connection', closed }, (signal) =>
    openTunnel(proxy, { host: hostOf(url), port: portOf(url) }, signal),
  );

/**
 * Connects with TLS and offers HTTP/2 and HTTP/1.1; emits the socket after the handshake and completes. The subscriber owns the socket
 * from then on; before, unsubscribing closes it.
 *
 * Errors: no connection or no handshake in time; those of the proxy and of TLS.
 */
export const dialTls = (target: DialTarget, secureContext: SecureContext, limits: DialLimits): Observable<TLSSocket> =>
  new Observable((subscriber) => {
    const closing = new AbortController();
    let isMade = false;
    const closed = closing.signal;
    const shakeHands = async (): Promise<TLSSocket> => {
      const { proxy } = target;
      const raw = proxy ? await dialProxy(target, proxy, limits, closed) : await dialServer(target, limits, closed);
      const socket = connectTls({
        ...{ ...target.tls, secureContext, host: hostOf(target.url), socket: raw },
        ALPNProtocols: ['h2', 'http/1.1'],
      });
      try {
        const limit = { limitMs: limits.tlsHandshakeMs, what: 'no TLS handshake', closed };
        await within(limit, (signal) => once(socket, 'secureConnect', { signal }));
        // A later error is one of the requests over the socket.
        return socket.on('error', () => undefined);
      } catch (error) {
        socket.on('error', () => undefined).destroy();
        raw.destroy();
        throw error;
      }
    };
    shakeHands().then(
      (socket) => {
        if (subscriber.closed) return void socket.destroy();
        isMade = true;
        subscriber.next(socket);
        subscriber.complete();
      },
      (error: unknown) => subscriber.error(error),
    );
    return () => {
      // The signal stays that of the connection.
      if (!isMade) closing.abort(new Error('closed'));
    };
  });

const dialServer = ({ url }: DialTarget, { dialMs }: DialLimits, closed: AbortSignal): Promise<Duplex> =>
  within({ limitMs: dialMs, what: 'no connection', closed }, async (signal) => {
    const socket = connect({ host: hostOf(url), port: portOf(url), noDelay: true, signal });
    await once(socket, 'connect');
    return socket.setKeepAlive(true, KEEP_ALIVE_MS);
  });

interface Limit {
  readonly limitMs: number;
  readonly what: string;
  readonly closed: AbortSignal | undefined;
}

/** Runs an attempt, and cancels it after the time limit. Errors: those of the attempt; the time limit, with `what`. */
const within = async <T>(
  { limitMs, what, closed }: Limit,
  attempt: (signal: AbortSignal) => Promise<T>,
): Promise<T> => {
  const late = new AbortController();
  const reason = new Error(`${what} after ${limitMs / 1_000} s`);
  const timer = setTimeout(() => late.abort(reason), limitMs);
  try {
    return await attempt(closed ? AbortSignal.any([late.signal, closed]) : late.signal);
  } catch (error) {
    // The error of a proxy names it; other errors only report the cancellation.
    throw late.signal.aborted && (error as Error).name === 'AbortError' ? reason : error;
  } finally {
    clearTimeout(timer);
  }
};
