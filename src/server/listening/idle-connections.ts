import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Returns a function that closes the idle connections of a server: their requests have replies, of which there was at least one, and no byte
 * of another request has come.
 *
 * From Node 26 on `closeIdleConnections` of Node also closes connections without any request yet, and with them a client that has just
 * connected.
 */
export const idleConnections = (server: Server | HttpsServer): (() => void) => {
  /** The bytes that had been read when each became idle. */
  const idle = new Map<Socket, number>();
  const unanswered = new WeakMap<Socket, number>();
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    const before = unanswered.get(socket);
    if (before === undefined) socket.once('close', () => idle.delete(socket));
    unanswered.set(socket, (before ?? 0) + 1);
    response.once('close', () => {
      const left = (unanswered.get(socket) ?? 1) - 1;
      unanswered.set(socket, left);
      if (left === 0 && !socket.destroyed) idle.set(socket, socket.bytesRead);
    });
  });
  // The bytes of another request, or of another protocol, were read after that.
  return () => {
    for (const [socket, bytesRead] of idle) if (socket.bytesRead === bytesRead) socket.destroy();
  };
};
