import {
  Agent as HttpAgent,
  type AgentOptions,
  type ClientRequest,
  type ClientRequestArgs,
  request as requestHttp,
} from 'node:http';
import { Agent as HttpsAgent, type AgentOptions as HttpsAgentOptions, request as requestHttps } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type SecureContext } from 'node:tls';
import { type DialLimits, dialProxy, type DialTarget, KEEP_ALIVE_MS } from './dial.js';
import { httpReply, type HttpTransport } from './http-transport.js';
import { hostOf } from './proxy-for.js';

/** The number of idle connections that are kept: as many as are used at once, since a handshake costs more than a request. */
const MAX_IDLE = 100;

export interface Http1Limits extends DialLimits {
  /** The time after which an idle connection is closed. An API server closes it after 90 s, possibly during the next request. */
  readonly idleMs: number;
}

export interface Http1Transport extends HttpTransport {
  /** Whether there is a connection. */
  readonly isOpen: () => boolean;
  /** Uses a connection after its handshake for the next request. */
  readonly adopt: (socket: Duplex) => void;
}

/** Makes the connections with HTTP/1.1, one for each request under way; they are kept open between requests. */
export const http1Transport = (
  target: DialTarget,
  secureContext: SecureContext | undefined,
  limits: Http1Limits,
): Http1Transport => {
  const { url, proxy, tls } = target;
  const options = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxFreeSockets: MAX_IDLE, timeout: limits.idleMs };
  const adopted = new Set<Duplex>();
  const established = new WeakSet<Duplex>();
  const takeAdopted = (): Duplex | undefined => {
    for (const socket of adopted) {
      adopted.delete(socket);
      if (!socket.destroyed) return socket;
    }
    return undefined;
  };
  let dials = 0;
  const dial = async (through: URL): Promise<Duplex> => {
    dials += 1;
    try {
      const socket = await dialProxy(target, through, limits);
      return secureContext ? connectTls({ ...tls, secureContext, host: hostOf(url), socket }) : socket;
    } finally {
      dials -= 1;
    }
  };
  const agent = proxy
    ? new TunnelAgent(options, url.protocol, takeAdopted, () => dial(proxy))
    : secureContext
      ? new AdoptingAgent({ ...options, ...tls, secureContext }, takeAdopted)
      : new HttpAgent(options);
  const open = url.protocol === 'https:' ? requestHttps : requestHttp;

  const listed = (sockets: HttpAgent['sockets']): readonly Duplex[] =>
    Object.values(sockets).flatMap((some) => [...(some ?? [])]);
  const closeIdle = (): void => {
    for (const socket of [...adopted, ...listed(agent.freeSockets)]) socket.destroy();
    adopted.clear();
  };
  const destroy = (): void => {
    closeIdle();
    agent.destroy();
  };
  return {
    isOpen: () => adopted.size + dials + listed(agent.sockets).length + listed(agent.freeSockets).length > 0,
    adopt: (socket) => {
      established.add(socket);
      adopted.add(socket);
    },
    send: ({ method, path, headers, content }, { reply, broken }) => {
      const host = url.hostname.replace(/^\[|\]$/g, '');
      const request = open({ protocol: url.protocol, host, port: url.port, path, method, agent, headers });
      let isOver = false;
      watchOver(request, established, limits);
      request.on('error', (error: NodeJS.ErrnoException) => {
        if (isOver) return;
        isOver = true;
        const isStale = request.reusedSocket && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
        broken(error, isStale ? 'stale' : 'lost');
      });
      request.on('response', (body) => {
        if (isOver) return;
        isOver = true;
        reply(httpReply({ statusCode: body.statusCode ?? 0, headers: body.headers, body }, () => undefined));
      });
      request.end(content);
      return () => {
        isOver = true;
        request.destroy();
      };
    },
    closeIdle,
    retire: () => {
      agent.maxFreeSockets = 0;
      closeIdle();
    },
    closeDoubtful: destroy,
    destroy,
  };
};

/** A pool that may receive connections that exist. */
class AdoptingAgent extends HttpsAgent {
  readonly #adopted: () => Duplex | undefined;
  constructor(options: HttpsAgentOptions, adopted: () => Duplex | undefined) {
    super(options);
    this.#adopted = adopted;
  }
  override createConnection(
    options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | null | undefined {
    return this.#adopted() ?? super.createConnection(options, callback);
  }
}

/** A pool whose connections are made asynchronously. */
class TunnelAgent extends HttpAgent {
  readonly #adopted: () => Duplex | undefined;
  readonly #dial: () => Promise<Duplex>;
  constructor(options: AgentOptions, protocol: string, adopted: () => Duplex | undefined, dial: () => Promise<Duplex>) {
    super(options);
    // Node.js compares the protocol of the pool with that of a request.
    Object.assign(this, { protocol });
    this.#adopted = adopted;
    this.#dial = dial;
  }
  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): Duplex | undefined {
    const adopted = this.#adopted();
    if (adopted) return adopted;
    this.#dial().then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
    return undefined;
  }
}

/** Cancels a request whose connection is not established in time, and enables TCP keep-alive. */
const watchOver = (
  request: ClientRequest,
  established: WeakSet<Duplex>,
  { dialMs, tlsHandshakeMs }: DialLimits,
): void => {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  const giveUpAfter = (limitMs: number, what: string): void => {
    timer = setTimeout(() => request.destroy(new Error(`${what} after ${limitMs / 1_000} s`)), limitMs);
  };
  request.on('close', stop);
  request.on('socket', (socket) => {
    if (request.reusedSocket || established.has(socket)) return;
    const onConnect = (): void => {
      stop();
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
      if (!('encrypted' in socket)) return;
      giveUpAfter(tlsHandshakeMs, 'no TLS handshake');
      socket.once('secureConnect', stop);
    };
    if (!socket.connecting) return onConnect();
    giveUpAfter(dialMs, 'no connection');
    socket.once('connect', onConnect);
  });
};
