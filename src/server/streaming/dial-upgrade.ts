import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { Observable } from 'rxjs';
import { forwardedHeaders } from '../../model/server/forwarded-headers.js';

/** The reply of a streaming server. After an upgrade its connection emits all bytes after the header of the reply. */
export type DialedUpgrade =
  | { readonly kind: 'upgraded'; readonly reply: IncomingMessage; readonly connection: Socket }
  | { readonly kind: 'refused'; readonly reply: IncomingMessage };

/** The part of a request that is sent on: its method, and its headers without those for this agent alone. */
export type AskedUpgrade = Pick<IncomingMessage, 'method' | 'rawHeaders' | 'socket'>;

/**
 * Sends the header of a request for another protocol to the URL of a stream. Emits the reply, and stays until it is
 * unsubscribed, which closes the connection. Certificates are not verified: the runtime has named the URL.
 *
 * Errors: it cannot connect, or the connection ends without a reply; the URL is none of HTTP.
 * Source: staging/src/k8s.io/apimachinery/pkg/util/proxy/upgradeaware.go
 */
export const dialUpgrade = (target: URL, asked: AskedUpgrade): Observable<DialedUpgrade> =>
  new Observable((subscriber) => {
    if (!['http:', 'https:'].includes(target.protocol)) throw new Error(`the runtime has sent the URL ${target.href}`);
    const connection = connectTo(target);
    let isConnected = false;
    connection.once(target.protocol === 'https:' ? 'secureConnect' : 'connect', () => (isConnected = true));
    const sent = headerOf(target, asked, connection);
    sent.on('upgrade', (reply, _, head) => {
      if (head.length > 0) connection.unshift(head);
      subscriber.next({ kind: 'upgraded', reply, connection });
    });
    sent.on('response', (reply) => subscriber.next({ kind: 'refused', reply }));
    sent.on('error', (error) =>
      subscriber.error(isConnected ? error : new Error(`error dialing backend: ${error.message}`, { cause: error })),
    );
    sent.end();
    return () => {
      sent.destroy();
      connection.destroy();
    };
  });

/** Each side may end its direction before the other one. */
const connectTo = ({ protocol, hostname, port }: URL): Socket => {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const place = { host, port: port === '' ? DEFAULT_PORTS[protocol]! : Number(port), allowHalfOpen: true };
  const connection =
    protocol === 'https:'
      ? connectTls({ ...place, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
      : new ReadingSocket(place).connect(place);
  // Also after the reply, when the request has no listeners there.
  return connection.setNoDelay(true).on('error', () => undefined);
};

const DEFAULT_PORTS: Readonly<Record<string, number>> = { 'http:': 80, 'https:': 443 };

const headerOf = (target: URL, asked: AskedUpgrade, connection: Socket): ClientRequest => {
  const sent = request({
    createConnection: () => connection,
    method: asked.method,
    path: `${target.pathname}${target.search}`,
    setHost: false,
  });
  for (const [name, values] of forwardedHeaders(asked.rawHeaders, asked.socket.remoteAddress)) {
    sent.setHeader(name, values);
  }
  // Node would announce a body.
  sent.removeHeader('Transfer-Encoding');
  sent.removeHeader('Content-Length');
  return sent;
};

type Done = (error?: Error | null) => void;

/**
 * A connection that a failed write does not close: it emits all bytes that it has received before it closes. A peer that sends
 * its last bytes and closes while this side still writes breaks the connection, and Node would drop those bytes with it. A write
 * that fails is dropped.
 */
class ReadingSocket extends Socket {
  override _write(chunk: unknown, encoding: BufferEncoding, done: Done): void {
    super._write(chunk, encoding, () => done());
  }

  override _writev(chunks: { chunk: unknown; encoding: BufferEncoding }[], done: Done): void {
    super._writev?.(chunks, () => done());
  }
}
