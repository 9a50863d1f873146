import { createServer, type RequestListener, type Server } from 'node:http';
import { asyncScheduler, Observable, type SchedulerLike } from 'rxjs';
import { type ListenFailed, retryListening } from './retry-listening.js';

export interface Listening {
  readonly kind: 'listening';
  /** The URL, or the path of the socket. */
  readonly at: string;
}
export type ServerEvent = Listening | ListenFailed;

export interface ListenOptions {
  readonly answer: RequestListener;
  /** Begins to listen, and calls back with the URL or path. */
  readonly listen: (server: Server, listening: (at: string) => void) => void;
  readonly scheduler?: SchedulerLike | undefined;
}

/** No request here needs a body, so a whole request arrives soon. */
const TIMEOUTS = {
  keepAliveTimeout: 90_000,
  headersTimeout: 10_000,
  requestTimeout: 10_000,
  connectionsCheckingInterval: 2_000,
};
/** Each connection uses a descriptor of the agent. */
const MOST_CONNECTIONS = 100;
/** Idle connections beyond this count are closed first. */
const MOST_IDLE_CONNECTIONS = 50;
/** Replies that a client does not read use memory. */
const MOST_REQUESTS = 1_000;

/**
 * A client with many requests or idle connections must not use up the descriptors that the agent needs for its pods.
 */
const limitConnections = (server: Server): void => {
  let open = 0;
  server.maxConnections = MOST_CONNECTIONS;
  server.maxRequestsPerSocket = MOST_REQUESTS;
  server.on('dropRequest', (_, socket) => socket.destroy());
  server.on('connection', (socket) => {
    open += 1;
    socket.on('close', () => (open -= 1));
    if (open > MOST_IDLE_CONNECTIONS) server.closeIdleConnections();
  });
};

/**
 * Serves HTTP from subscribing to unsubscribing. Emits the address once it listens; emits the error when it cannot
 * listen, or stops listening, and tries again after 5 s. A hundred connections may be open at a time.
 *
 * Ends: never by itself.
 */
export const listenWhile = ({ answer, listen, scheduler = asyncScheduler }: ListenOptions): Observable<ServerEvent> =>
  new Observable<Listening>((subscriber) => {
    const server = createServer(TIMEOUTS, answer);
    limitConnections(server);
    server.on('error', (error) => subscriber.error(error));
    listen(server, (at) => subscriber.next({ kind: 'listening', at }));
    return () => {
      server.close();
      server.closeAllConnections();
    };
  }).pipe(retryListening(scheduler));
