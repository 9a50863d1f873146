import { type IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The error for a request that has to be one for another protocol. Source: pkg/util/proxy/upgradeaware.go */
export const UPGRADE_REQUIRED = 'Upgrade request required\n';

/**
 * The reply to a request for another protocol. It is an ordinary reply, after which the connection is closed, unless its handler
 * takes over the connection. It emits `close` when the connection is closed, in both cases.
 */
export class UpgradeResponse extends ServerResponse {
  readonly #head: Buffer;
  readonly #left = (): void => void this.socket?.destroy();

  constructor(request: IncomingMessage, connection: Socket, head: Buffer) {
    super(request);
    this.#head = head;
    this.shouldKeepAlive = false;
    this.assignSocket(connection);
    // The HTTP server has given up the connection with its listeners.
    connection.on('error', () => undefined);
    connection.on('end', this.#left);
    connection.on('timeout', this.#left);
    this.on('finish', () => connection.destroySoon());
  }

  /** The connection while it is open. */
  get open(): Socket {
    const { socket } = this;
    if (!socket) throw new Error('the connection is closed');
    return socket;
  }

  /** Returns the connection, which then emits all bytes after the header of the request. */
  takeOver(): Socket {
    const socket = this.open;
    socket.off('end', this.#left);
    // A terminal may be silent; the runtime closes idle streams.
    socket.setTimeout(0);
    // The other direction may still have bytes under way.
    socket.allowHalfOpen = true;
    if (this.#head.length > 0) socket.unshift(this.#head);
    return socket;
  }
}

/**
 * Passes the requests of `server` for another protocol on to `answer`, so that the same checks precede all requests. A connection whose
 * earlier request has no complete reply yet is closed: no second protocol can begin before that reply.
 */
export const answerUpgrades = (server: Server, answer: RequestListener): void => {
  const unanswered = new WeakMap<Socket, Set<ServerResponse>>();
  // The first listener: another one may complete the reply at once.
  server.prependListener('request', ({ socket }, response) => {
    const replies = unanswered.get(socket) ?? new Set();
    unanswered.set(socket, replies.add(response));
    response.once('close', () => replies.delete(response));
  });
  server.on('upgrade', (request, duplex, head) => {
    const connection = duplex as Socket;
    if (unanswered.get(connection)?.size) {
      connection.on('error', () => undefined).destroy();
      return;
    }
    answer(request, new UpgradeResponse(request, connection, head));
  });
};
