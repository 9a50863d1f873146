import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import { Observable } from 'rxjs';
import { SpdyConnection } from '../../runtime/embedded/streaming/spdy/spdy-connection.js';

export interface StreamDial {
  readonly socketPath: string;
  /** With its query. */
  readonly path: string;
  /** The value of `X-Stream-Protocol-Version`. */
  readonly protocol: 'v4.channel.k8s.io' | 'portforward.k8s.io';
}

/**
 * Connects to a stream of the kubelet API on the socket of the agent, from subscribing to unsubscribing. Emits the connection,
 * and completes when that is closed.
 *
 * The transport is SPDY, which every streaming server of a CRI runtime has. Their WebSockets end at version 4, which cannot
 * half-close: the end of standard input would not reach a command. `@kubernetes/client-node` has WebSockets only, buffers copies in
 * whole files, and uses one WebSocket for each forwarded connection, of which a pod may have 20.
 *
 * Errors: it cannot connect; the request is refused, with the text of kubectl.
 * Source: staging/src/k8s.io/apimachinery/pkg/util/httpstream/spdy/roundtripper.go
 */
export const dialStream = ({ socketPath, path, protocol }: StreamDial): Observable<SpdyConnection> =>
  new Observable((subscriber) => {
    let connection: SpdyConnection | undefined;
    const refuse = (why: string): void => subscriber.error(new Error(`unable to upgrade connection: ${why}`));
    const headers = {
      Host: 'localhost',
      Connection: 'Upgrade',
      Upgrade: 'SPDY/3.1',
      'X-Stream-Protocol-Version': protocol,
    };
    const sent = request({ socketPath, path, headers });
    sent.on('upgrade', (reply, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      const chosen = reply.headers['x-stream-protocol-version'];
      connection = new SpdyConnection(socket, {
        side: 'client',
        streamsMax: 0,
        accept: () => false,
        arrivedData: 'keep',
      });
      if (chosen !== protocol) return refuse(`the runtime speaks ${String(chosen)} instead of ${protocol}`);
      connection.gone.addEventListener('abort', () => subscriber.complete(), { once: true });
      subscriber.next(connection);
    });
    sent.on('response', (reply) => {
      const status = `${reply.statusCode} ${reply.statusMessage}`;
      text(reply).then(
        (body) => refuse(body.trim() === '' ? status : body.trim()),
        () => refuse(status),
      );
    });
    sent.on('error', (error) => subscriber.error(error));
    sent.end();
    return () => {
      connection?.destroy();
      sent.destroy();
    };
  });
