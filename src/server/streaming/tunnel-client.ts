import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { Observable } from 'rxjs';
import { createWebSocketStream, WebSocketServer } from 'ws';

/** The longest frame of SPDY with its header: a client may send each frame in one message. */
const MESSAGE_MAX_BYTES = 2 ** 24 + 8;

/** The protocol of the reply, by the request. */
const protocols = new WeakMap<IncomingMessage, string>();
const server = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MESSAGE_MAX_BYTES });
server.on('headers', (headers, request) => {
  const protocol = protocols.get(request);
  if (protocol !== undefined) headers.push(`Sec-WebSocket-Protocol: ${protocol}`);
});

export interface TunnelClient {
  readonly request: IncomingMessage;
  readonly connection: Socket;
  /** The name in the reply. */
  readonly protocol: string;
}

/**
 * Accepts the WebSocket of a client, and emits the bytes in its messages as one stream; what is written to it goes out in binary
 * messages. The end of one side closes the WebSocket. A request that is no right one is answered and closed without an emission.
 *
 * Source: staging/src/k8s.io/client-go/tools/portforward/tunneling_connection.go
 */
export const tunnelClient = ({ request, connection, protocol }: TunnelClient): Observable<Duplex> =>
  new Observable((subscriber) => {
    protocols.set(request, protocol);
    // The name of the protocol has a character that `ws` accepts in no offer.
    delete request.headers['sec-websocket-protocol'];
    server.handleUpgrade(request, connection, Buffer.alloc(0), (socket) => {
      // A broken connection is closed, which ends the stream.
      socket.on('error', () => undefined);
      subscriber.next(createWebSocketStream(socket).on('error', () => undefined));
      subscriber.complete();
    });
  });
