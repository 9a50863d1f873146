import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { Observable } from 'rxjs';
import { errorText } from '../../model/cri/cri-error.js';
import type { LocalAddress } from '../../model/server/local-ports.js';

export type LocalEvent =
  | { readonly kind: 'listening'; readonly address: string; readonly port: number }
  | { readonly kind: 'connection'; readonly port: number; readonly socket: Socket }
  /** Every address was tried. Without a problem the port can be used; of `localhost` one address is enough. */
  | { readonly kind: 'tried'; readonly problem?: string };

/** Each connection uses a descriptor here, and two in the runtime. Further ones are closed at once. */
const MOST_CONNECTIONS = 1_000;

/**
 * Listens on a port of all addresses from subscribing to unsubscribing, when its connections are closed. Port 0 takes a free one, the
 * same for all addresses.
 *
 * Errors: none; a problem is an event. Ends: never by itself.
 * Source: staging/src/k8s.io/client-go/tools/portforward/portforward.go listenOnPort
 */
export const listenLocal = (wanted: number, addresses: readonly LocalAddress[]): Observable<LocalEvent> =>
  new Observable((subscriber) => {
    const servers: Server[] = [];
    const open = new Set<Socket>();
    const accept = (socket: Socket): void => {
      open.add(socket);
      socket.once('close', () => open.delete(socket));
      subscriber.next({ kind: 'connection', port: socket.localPort ?? wanted, socket });
    };
    const listen = async (address: string, port: number): Promise<number> => {
      const server = createServer({ allowHalfOpen: true, noDelay: true }, accept);
      server.maxConnections = MOST_CONNECTIONS;
      servers.push(server);
      server.listen({ host: address, port, ipv6Only: true });
      await once(server, 'listening');
      // A connection that cannot be accepted, as without a descriptor, affects no other one.
      server.on('error', () => undefined);
      return (server.address() as AddressInfo).port;
    };
    const listenOnAll = async (): Promise<void> => {
      let port = wanted;
      const tried: (LocalAddress & { readonly problem?: string })[] = [];
      for (const { address, isOfLocalhost } of addresses) {
        try {
          port = await listen(address, port);
          tried.push({ address, isOfLocalhost });
          subscriber.next({ kind: 'listening', address, port });
        } catch (error) {
          tried.push({ address, isOfLocalhost, problem: errorText(error) });
        }
        if (subscriber.closed) return;
      }
      subscriber.next({ kind: 'tried', ...problemOf(tried) });
    };
    listenOnAll().catch((error: unknown) => subscriber.error(error));
    return () => {
      for (const server of servers) server.close();
      for (const socket of open) socket.destroy();
    };
  });

const problemOf = (tried: readonly (LocalAddress & { readonly problem?: string })[]): { readonly problem?: string } => {
  const failed = tried.filter(({ problem }) => problem !== undefined);
  const isLocalhostOpen = tried.some(({ isOfLocalhost, problem }) => isOfLocalhost && problem === undefined);
  if (failed.every(({ isOfLocalhost }) => isOfLocalhost && isLocalhostOpen)) return {};
  return { problem: failed.map(({ problem }) => problem).join(', ') };
};
