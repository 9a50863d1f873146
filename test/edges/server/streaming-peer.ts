import { once } from 'node:events';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';

/** What the streaming server does with a request: `header` is its text, `rest` are the bytes after it. */
export type Behaviour = (socket: Socket, header: string, rest: Buffer) => void;

export const ACCEPTED =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Chosen: v4\r\n\r\n';

/** Accepts, and sends back all that it receives, until the client ends. */
export const echoing: Behaviour = (socket, _, rest) => {
  socket.write(ACCEPTED);
  socket.write(rest);
  socket.pipe(socket);
};

export const replying =
  (text: string): Behaviour =>
  (socket) =>
    void socket.write(text);

/** A plain server in place of the streaming server of a runtime. */
export class StreamingPeer {
  readonly headers: string[] = [];
  readonly sockets: Socket[] = [];
  behaviour: Behaviour = echoing;
  private constructor(private readonly server: Server) {}

  static async start(tls?: { readonly cert: string; readonly key: string }): Promise<StreamingPeer> {
    const take = (socket: Socket): void => peer.take(socket);
    const server = tls
      ? createTlsServer({ ...tls, allowHalfOpen: true }, take)
      : createServer({ allowHalfOpen: true }, take);
    const peer = new StreamingPeer(server);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return peer;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get newest(): Socket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error('there was no connection');
    return socket;
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private take(socket: Socket): void {
    this.sockets.push(socket);
    // The `close` of a socket needs the end of both directions.
    socket.on('error', () => undefined).on('end', () => socket.end());
    let read = Buffer.alloc(0);
    const onData = (part: Buffer): void => {
      read = Buffer.concat([read, part]);
      const end = read.indexOf('\r\n\r\n');
      if (end < 0) return;
      socket.off('data', onData);
      const header = read.subarray(0, end).toString('latin1');
      this.headers.push(header);
      this.behaviour(socket, header, read.subarray(end + 4));
    };
    socket.on('data', onData);
  }
}
