import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface SilentRelay {
  readonly port: number;
  /** The number of connections so far. */
  readonly opened: () => number;
  /** The connections that the client has not closed yet. */
  readonly open: () => number;
  /** From now on the connections that exist pass no byte on, in neither direction. They are read, so that the kernel acknowledges all. */
  readonly silence: () => void;
  readonly close: () => void;
}

/** A TCP relay to a port of this machine, like a balancer that loses its connections without closing them. */
export const silentRelay = async (to: number): Promise<SilentRelay> => {
  const sockets = new Set<Socket>();
  const silent = new Set<Socket>();
  let opened = 0;
  const relay = createServer((client) => {
    opened += 1;
    const server = connect(to, '127.0.0.1');
    const pass = (from: Socket, target: Socket): void => {
      from.on('data', (chunk) => !silent.has(client) && target.write(chunk));
      from.on('error', () => undefined);
      from.on('close', () => !silent.has(client) && target.destroy());
    };
    pass(client, server);
    pass(server, client);
    sockets.add(client);
    client.on('close', () => {
      sockets.delete(client);
      server.destroy();
    });
  });
  relay.listen(0, '127.0.0.1');
  await once(relay, 'listening');
  return {
    port: (relay.address() as AddressInfo).port,
    opened: () => opened,
    open: () => sockets.size,
    silence: () => {
      for (const socket of sockets) silent.add(socket);
    },
    close: () => {
      for (const socket of sockets) socket.destroy();
      relay.close();
    },
  };
};
