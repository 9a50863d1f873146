import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { finished } from 'node:stream/promises';
import type { SpdyConnection } from '../../runtime/embedded/streaming/spdy/spdy-connection.js';

export interface ForwardedConnection {
  readonly connection: SpdyConnection;
  readonly socket: Socket;
  readonly remote: number;
  /** Another one for each connection. */
  readonly requestId: number;
}

/**
 * Joins a connection of this machine with a port of the pod, and resolves when it has ended, with the error of the runtime, which is
 * empty without one. Each side may end its direction before the other one.
 *
 * Source: staging/src/k8s.io/client-go/tools/portforward/portforward.go handleConnection
 */
export const forwardConnection = async ({
  connection,
  socket,
  remote,
  requestId,
}: ForwardedConnection): Promise<string> => {
  const open = (type: string) =>
    connection.open(
      new Map([
        ['streamtype', type],
        ['port', String(remote)],
        ['requestid', String(requestId)],
      ]),
    );
  const error = open('error');
  error.end();
  const data = open('data');
  socket.on('error', () => undefined);
  // A connection that breaks resets its stream; one that has ended leaves nothing to reset.
  socket.once('close', () => data.destroy());
  socket.pipe(data);
  data.pipe(socket);
  // Reading the data to its end may never happen after the reset.
  const [problem] = await Promise.all([text(error), finished(data, { writable: false }).catch(() => undefined)]);
  // The runtime reports nothing before both of its directions have ended.
  if (problem === '') socket.destroySoon();
  else socket.destroy();
  return problem;
};
