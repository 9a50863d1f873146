import { Agent as HttpAgent, type AgentOptions, type ClientRequest, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, type SecureContext } from 'node:tls';
import type { ApiIdentity } from './api-identity.js';
import { hostOf, portOf, proxyFor } from './proxy-for.js';
import { openTunnel } from './tunnel.js';

/** As many as are sent at once: a handshake costs more than a request. */
const MAX_IDLE = 100;
const KEEP_ALIVE_MS = 30_000;

export interface ConnectionLimits {
  /** Until there is a connection, through a proxy as well. */
  readonly dialMs: number;
  readonly tlsHandshakeMs: number;
  /** A connection that nothing has used for so long is closed. An API server closes it after 90 s, perhaps just as it is used again. */
  readonly idleMs: number;
}

export interface Connections {
  /** The pool for requests that come with these certificates. Connections with others close as soon as nothing uses them. */
  readonly agent: (tls: SecureContext | undefined) => HttpAgent;
  /** Gives up what does not come about in time, and lets the kernel notice a peer that is gone. */
  readonly watchOver: (request: ClientRequest) => void;
  readonly closeIdle: () => void;
  /** Breaks every connection, whatever uses it. */
  readonly reset: () => void;
}

/** The connections to an API server, kept open between requests. Errors: a proxy whose URL is none. */
export const connections = (
  { server, proxyUrl, tlsServerName, insecureSkipTlsVerify }: ApiIdentity,
  env: NodeJS.ProcessEnv,
  limits: ConnectionLimits,
): Connections => {
  const url = new URL(server);
  const proxy = proxyUrl === undefined ? proxyFor(url, env) : new URL(proxyUrl);
  const pool = { keepAlive: true, keepAliveMsecs: KEEP_ALIVE_MS, maxFreeSockets: MAX_IDLE, timeout: limits.idleMs };
  const tlsOptions: ConnectionOptions = {
    rejectUnauthorized: insecureSkipTlsVerify !== true,
    // An address is no name to ask for, and is verified all the same.
    servername: tlsServerName ?? (isIP(hostOf(url)) === 0 ? hostOf(url) : ''),
  };
  let current: { readonly tls: SecureContext | undefined; readonly agent: HttpAgent } | undefined;

  const open = (secureContext: SecureContext | undefined): HttpAgent => {
    const options = secureContext ? { ...pool, ...tlsOptions, secureContext } : pool;
    if (!proxy) return secureContext ? new HttpsAgent(options) : new HttpAgent(options);
    const dial = () => dialThrough(proxy, { host: hostOf(url), port: portOf(url) }, limits.dialMs);
    return new TunnelAgent(pool, url.protocol, async () => {
      const socket = await dial();
      return secureContext ? connectTls({ ...tlsOptions, secureContext, host: hostOf(url), socket }) : socket;
    });
  };
  return {
    agent: (tls) => {
      if (current && current.tls === tls) return current.agent;
      if (current) retire(current.agent);
      current = { tls, agent: open(tls) };
      return current.agent;
    },
    watchOver: (request) => watchOver(request, limits),
    closeIdle: () => current && closeFree(current.agent),
    reset: () => {
      const broken = current?.agent;
      current = undefined;
      broken?.destroy();
    },
  };
};

/** What is still used goes on, and is closed afterwards. */
const retire = (agent: HttpAgent): void => {
  agent.maxFreeSockets = 0;
  closeFree(agent);
};

const closeFree = (agent: HttpAgent): void => {
  for (const sockets of Object.values(agent.freeSockets)) for (const socket of [...(sockets ?? [])]) socket.destroy();
};

const dialThrough = async (
  proxy: URL,
  target: { readonly host: string; readonly port: number },
  dialMs: number,
): Promise<Duplex> => {
  const abort = new AbortController();
  const timer = setTimeout(() => abort.abort(new Error(`no connection after ${dialMs / 1_000} s`)), dialMs);
  try {
    return await openTunnel(proxy, target, abort.signal);
  } finally {
    clearTimeout(timer);
  }
};

/** A pool of connections that take their time to come about. */
class TunnelAgent extends HttpAgent {
  readonly #dial: () => Promise<Duplex>;
  constructor(options: AgentOptions, protocol: string, dial: () => Promise<Duplex>) {
    super(options);
    // What Node.js asks of a pool, whether it can have requests of that protocol.
    Object.assign(this, { protocol });
    this.#dial = dial;
  }
  override createConnection(
    _options: ClientRequestArgs,
    callback?: (error: Error | null, stream: Duplex) => void,
  ): undefined {
    this.#dial().then(
      (socket) => callback?.(null, socket),
      (error: Error) => callback?.(error, undefined as never),
    );
  }
}

const watchOver = (request: ClientRequest, { dialMs, tlsHandshakeMs }: ConnectionLimits): void => {
  let timer: NodeJS.Timeout | undefined;
  const stop = (): void => clearTimeout(timer);
  const giveUpAfter = (limitMs: number, what: string): void => {
    timer = setTimeout(() => request.destroy(new Error(`${what} after ${limitMs / 1_000} s`)), limitMs);
  };
  request.on('close', stop);
  request.on('socket', (socket) => {
    if (request.reusedSocket) return;
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
