import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../../embedded/eventually.js';

/** Servers of one test, and who is connected to them. */
export interface LocalServers {
  /** Listens on the loopback; the port that the kernel chose. */
  readonly listen: (server: Server) => Promise<number>;
  /** A server that does as it likes with a connection; what comes over it is read, and lost without a listener. */
  readonly serve: (handle: (socket: Socket) => void) => Promise<number>;
  /** The same, for a server that reads by itself. */
  readonly serveUnread: (handle: (socket: Socket) => void) => Promise<number>;
  /** A port without a listener. */
  readonly closedPort: () => Promise<number>;
  /** Connections that were taken, ever. */
  readonly taken: () => number;
  /** Waits until every connection that was taken is closed. */
  readonly deserted: () => Promise<void>;
  /** Breaks every connection. */
  readonly hangUp: () => void;
  /** The same, and takes no more. */
  readonly close: () => void;
}

export const localServers = (): LocalServers => {
  const servers = new Set<Server>();
  const sockets = new Set<Socket>();
  let taken = 0;
  const listen = async (server: Server): Promise<number> => {
    servers.add(server);
    server.on('connection', (socket: Socket) => {
      taken += 1;
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return (server.address() as AddressInfo).port;
  };
  const hangUp = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    listen,
    serve: (handle) =>
      listen(
        createServer((socket) => {
          handle(socket);
          // A socket that is not read does not see the end.
          socket.resume();
        }),
      ),
    serveUnread: (handle) => listen(createServer(handle)),
    closedPort: async () => {
      const server = createServer();
      const port = await listen(server);
      server.close();
      await once(server, 'close');
      return port;
    },
    taken: () => taken,
    deserted: async () => {
      await eventually('no connection is left', () => sockets.size === 0);
    },
    hangUp,
    close: () => {
      hangUp();
      for (const server of servers) server.close();
    },
  };
};

/** A key and a certificate without a signer. */
export const selfSigned = (): { readonly key: string; readonly cert: string } => {
  const directory = mkdtempSync(join(tmpdir(), 'rx-tls-'));
  try {
    const [key, cert] = [join(directory, 'key'), join(directory, 'cert')];
    const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
    const subject = ['-subj', '/CN=nobody.test', '-days', '1'];
    execFileSync('openssl', ['req', '-x509', ...kind, ...subject, '-keyout', key, '-out', cert], { stdio: 'ignore' });
    return { key: readFileSync(key, 'utf8'), cert: readFileSync(cert, 'utf8') };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};
