import { Agent as HttpAgent, type AgentOptions, type ClientRequest, type ClientRequestArgs } from 'node:http';
import { Agent as HttpsAgent } from 'node:https';
import { isIP } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, type ConnectionOptions, type SecureContext } from 'node:tls';
import type { ApiIdentity } from './api-identity.js';
import { hostOf, portOf, proxyFor } from './proxy-for.js';
import { openTunnel } from './tunnel.js';

/** The number of idle connections that are kept: as many as are used at once, since a handshake costs more than a request. */
const MAX_IDLE = 100;
const KEEP_ALIVE_MS = 30_000;

export interface ConnectionLimits {
  /** The time limit for a connection, with its proxy. */
  readonly dialMs: number;
  readonly tlsHandshakeMs: number;
  /** The time after which an idle connection is closed. An API server closes it after 90 s, possibly during the next request. */
  readonly idleMs: number;
}

export interface Connections {
  /** Returns the pool for requests with these certificates. Connections with other certificates close when they are idle. */
  readonly agent: (tls: SecureContext | undefined) => HttpAgent;
  /** Cancels a request whose connection is not established in time, and enables TCP keep-alive. */
  readonly watchOver: (request: ClientRequest) => void;
  readonly closeIdle: () => void;
  /** Closes every connection, also those with running requests. */
  readonly reset: () => void;
}

/** Makes the connections to an API server, which are kept open between requests. Errors: an invalid URL of the proxy. */
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
    // SNI has no IP addresses; the certificate is verified in either case.
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

/** Closes the idle connections now, and the others after their requests. */
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

/** A pool whose connections are made asynchronously. */
class TunnelAgent extends HttpAgent {
  readonly #dial: () => Promise<Duplex>;
  constructor(options: AgentOptions, protocol: string, dial: () => Promise<Duplex>) {
    super(options);
    // Node.js compares the protocol of the pool with that of a request.
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
