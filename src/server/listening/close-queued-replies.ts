import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Server as HttpsServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Has every reply of a broken connection emit `close`. Node does so only for the reply that is being sent: those of the
 * requests behind it on the same connection would wait for their reader for ever.
 */
export const closeQueuedReplies = (server: Server | HttpsServer): void => {
  const queues = new WeakMap<Socket, Set<ServerResponse>>();
  const queueOf = (socket: Socket): Set<ServerResponse> => {
    const known = queues.get(socket);
    if (known) return known;
    const queue = new Set<ServerResponse>();
    queues.set(socket, queue);
    socket.once('close', () => {
      for (const response of queue) if (!response.socket) close(response);
    });
    return queue;
  };
  server.prependListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    if (response.socket) return;
    const queue = queueOf(socket);
    queue.add(response);
    response.once('close', () => queue.delete(response));
  });
};

const close = (response: ServerResponse): void => {
  response.destroy();
  response.emit('close');
};
