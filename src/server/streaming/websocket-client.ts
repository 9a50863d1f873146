import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import { map, Observable } from 'rxjs';
import { createWebSocketStream, type WebSocket, WebSocketServer } from 'ws';
import { UpgradeResponse, UPGRADE_REQUIRED } from './answer-upgrades.js';

/** The longest frame of SPDY with its header: a client may send each frame in one message. */
const MESSAGE_MAX_BYTES = 2 ** 24 + 8;

/** The request of a client for a WebSocket that ends at the agent. */
export interface WebSocketClient {
  /** Accepts the WebSocket under this name of its protocol. */
  readonly accept: (protocol: string) => Observable<WebSocket>;
}

/**
 * The bytes in the messages of a WebSocket as one stream; what is written to it goes out in binary messages. The end of one side closes
 * the WebSocket.
 */
export const bytesOf = (accepted$: Observable<WebSocket>): Observable<Duplex> =>
  accepted$.pipe(map((socket) => createWebSocketStream(socket).on('error', () => undefined)));

/**
 * Emits the client of a request for a WebSocket that has a method, a key and a version which are right. Any other request is
 * answered, and its connection closed, without an emission.
 *
 * Errors: the request is no upgrade.
 * Source: staging/src/k8s.io/client-go/tools/portforward/tunneling_connection.go
 */
export const webSocketClient = (request: IncomingMessage, response: ServerResponse): Observable<WebSocketClient> =>
  new Observable((subscriber) => {
    if (!(response instanceof UpgradeResponse)) throw new Error(UPGRADE_REQUIRED);
    let accepted = '';
    let take = (_: WebSocket): void => undefined;
    const begin = (protocol: string, decide: (isRight: boolean) => void): Observable<WebSocket> =>
      new Observable((client) => {
        accepted = protocol;
        take = (socket) => client.next(socket);
        response.takeOver();
        decide(true);
      });
    const server = new WebSocketServer({
      ...{ noServer: true, perMessageDeflate: false, maxPayload: MESSAGE_MAX_BYTES },
      // Called with a request that is right. The WebSocket begins with the decision.
      verifyClient: (_, decide) => subscriber.next({ accept: (protocol) => begin(protocol, decide) }),
    });
    server.on('headers', (headers) => headers.push(`Sec-WebSocket-Protocol: ${accepted}`));
    // The name of the protocol has a character that `ws` accepts in no offer.
    delete request.headers['sec-websocket-protocol'];
    server.handleUpgrade(request, response.open, Buffer.alloc(0), (socket) => {
      // A broken connection is closed, which ends the stream.
      socket.on('error', () => undefined);
      take(socket);
    });
  });
