import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { checkWhileConnected } from './check-while-connected.js';
import { closeQueuedReplies } from './close-queued-replies.js';
import { idleConnections } from './idle-connections.js';
import { type ListenFailed, retryListening } from './retry-listening.js';

export interface Listening {
  readonly kind: 'listening';
  /** The URL, or the path of the socket. */
  readonly at: string;
}
export type ServerEvent = Listening | ListenFailed;

export type AnyServer = Server | HttpsServer;

export interface ListenOptions {
  readonly answer: RequestListener;
  /** Makes the server with the given limits. Default: one for plain HTTP. Errors: thrown, as for a wrong certificate. */
  readonly create?: (limits: ServerOptions, answer: RequestListener) => AnyServer;
  /** Begins to listen, and calls back with the URL or path. */
  readonly listen: (server: AnyServer, listening: (at: string) => void) => void;
  /** The connections that may be open at a time. Default: 100. */
  readonly mostConnections?: number;
  /**
   * The time after which a connection is closed over which no byte passes, in milliseconds: a reply that its client does not
   * read keeps the connection no longer. It does not count for a connection that a handler has taken over. Default: 4 h.
   */
  readonly silentMs?: number;
  readonly scheduler?: SchedulerLike | undefined;
}

/** No request here needs a body, so a whole request arrives soon. */
const TIMEOUTS = {
  keepAliveTimeout: 90_000,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
  // A client that vanishes does not close its connection.
  keepAlive: true,
  keepAliveInitialDelay: 15_000,
};
/** A log without a new line is silent, too. Source: pkg/kubelet/server/server.go, WriteTimeout */
export const SILENT_MS = 4 * 60 * 60 * 1_000;
/** For a port that serves every client: its replies are short, and a client that reads none of them would use its connections. */
export const OPEN_PORT_SILENT_MS = 90_000;
/** Each connection uses a descriptor of the agent. */
const MOST_CONNECTIONS = 100;
/** Replies that a client does not read use memory. */
const MOST_REQUESTS = 1_000;

/**
 * A client with many requests or idle connections must not use up the descriptors that the agent needs for its pods.
 * Returns the open connections.
 */
const limitConnections = (server: AnyServer, mostConnections: number): ReadonlySet<Socket> => {
  const open = new Set<Socket>();
  const closeIdle = idleConnections(server);
  server.maxConnections = mostConnections;
  server.maxRequestsPerSocket = MOST_REQUESTS;
  server.on('dropRequest', (_: unknown, socket: Socket) => socket.destroy());
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('close', () => open.delete(socket));
    // Beyond half of them, idle ones are closed first.
    if (open.size > mostConnections / 2) closeIdle();
  });
  return open;
};

/**
 * Serves HTTP from subscribing to unsubscribing, when all connections are closed. Emits the address once it listens.
 *
 * Errors: it cannot listen, or stops listening. Ends: never by itself.
 */
export const listenOnce = ({
  answer,
  listen,
  create = createServer,
  mostConnections = MOST_CONNECTIONS,
  silentMs = SILENT_MS,
}: Omit<ListenOptions, 'scheduler'>): Observable<Listening> =>
  new Observable((subscriber) => {
    const server = create(TIMEOUTS, answer);
    server.timeout = silentMs;
    closeQueuedReplies(server);
    checkWhileConnected(server, TIMEOUTS.connectionsCheckingInterval);
    const open = limitConnections(server, mostConnections);
    server.on('error', (error) => subscriber.error(error));
    listen(server, (at) => subscriber.next({ kind: 'listening', at }));
    return () => {
      server.close();
      // The server itself does not know connections before the end of their TLS handshake.
      for (const socket of open) socket.destroy();
    };
  });

/**
 * The same without an end: a failure is a value, and the server is started again 5 s later.
 *
 * Errors: none. Ends: never by itself.
 */
export const listenWhile = ({ scheduler = asyncScheduler, ...options }: ListenOptions): Observable<ServerEvent> =>
  listenOnce(options).pipe(retryListening(scheduler));

/** The URL of a server that listens. */
export const urlOf = (server: AnyServer, scheme: 'http' | 'https', address: string): string => {
  const { port } = server.address() as AddressInfo;
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
};
