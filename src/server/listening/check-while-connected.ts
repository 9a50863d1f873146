import type { Server } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/** The longest time of a timer of Node, in milliseconds: more than three weeks. */
const SELDOM_MS = 2 ** 31 - 1;

/**
 * Has a server check the time limits of its requests every `everyMs` milliseconds while it has connections. Node does so for as long
 * as the server listens, and would wake up an agent without clients.
 *
 * Node takes the period, and restarts the checks, with each event `listening`. A version that does not checks all the time, as without this.
 */
export const checkWhileConnected = (server: Server | HttpsServer, everyMs: number): void => {
  const check = (periodMs: number): void => {
    Object.assign(server, { connectionsCheckingInterval: periodMs });
    server.emit('listening');
  };
  let connections = 0;
  server.once('listening', () => check(SELDOM_MS));
  server.on('connection', (socket: Socket) => {
    connections += 1;
    if (connections === 1) check(everyMs);
    socket.once('close', () => {
      connections -= 1;
      // A server that no longer listens has no checks.
      if (connections === 0 && server.listening) check(SELDOM_MS);
    });
  });
};
