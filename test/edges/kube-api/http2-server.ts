import { once } from 'node:events';
import {
  createSecureServer,
  type IncomingHttpHeaders,
  type Http2Session,
  type ServerHttp2Stream,
  type Settings,
} from 'node:http2';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import type { ApiStage } from './api-stage.js';

/** One request, as the server of a test received it. */
export interface Http2Seen {
  /** `GET /path`. */
  readonly line: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** The common name of the client's certificate; empty without one. */
  readonly from: string;
  /** The number of its connection, from 1. */
  readonly connection: number;
  readonly stream: ServerHttp2Stream;
  readonly session: Http2Session;
}

export interface Http2Server {
  readonly url: string;
  readonly port: number;
  readonly seen: Http2Seen[];
  /** Replies to the next requests. */
  answer: (seen: Http2Seen) => void;
  /** The open connections. */
  readonly sockets: ReadonlySet<Socket>;
  /** The number of connections so far. */
  readonly opened: () => number;
  /** The lines of the requests that the client has reset. */
  readonly reset: string[];
  /** The number of pings so far. */
  readonly pings: () => number;
}

export const json2 = (stream: ServerHttp2Stream, code: number, value: unknown): void => {
  stream.respond({ ':status': code, 'content-type': 'application/json' });
  stream.end(JSON.stringify(value));
};

/** Starts an HTTPS server that speaks HTTP/2 alone, until the stage ends. */
export const http2Server = async (stage: ApiStage, settings: Settings = {}): Promise<Http2Server> => {
  const sockets = new Set<Socket>();
  const numbers = new Map<Http2Session, number>();
  let pings = 0;
  const listening = createSecureServer({
    ...stage.ca.server('api.test'),
    ...{ ca: stage.ca.ca, requestCert: true, rejectUnauthorized: false, settings },
    // A large reply must not count as a reason to refuse other requests.
    maxSessionMemory: 1_000,
  });
  listening.on('secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  listening.on('session', (session) => {
    numbers.set(session, numbers.size + 1);
    session.on('error', () => undefined).on('ping', () => (pings += 1));
  });
  listening.on('stream', (stream, headers) => {
    const line = `${headers[':method']} ${headers[':path']}`;
    const chunks: Buffer[] = [];
    const { session } = stream;
    if (!session) throw new Error('a stream without a session');
    const from = String((session.socket as TLSSocket).getPeerCertificate()?.subject?.CN ?? '');
    stream.on('error', () => undefined);
    stream.on('close', () => stream.rstCode === 8 && server.reset.push(line));
    stream.on('data', (chunk: Buffer) => chunks.push(chunk));
    stream.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const seen = { line, headers, body, from, connection: numbers.get(session) ?? 0, stream, session };
      server.seen.push(seen);
      server.answer(seen);
    });
  });
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  const { port } = listening.address() as AddressInfo;
  const server: Http2Server = {
    url: `https://127.0.0.1:${port}`,
    port,
    seen: [],
    answer: ({ stream }) => json2(stream, 200, { kind: 'Ok' }),
    sockets,
    opened: () => numbers.size,
    reset: [],
    pings: () => pings,
  };
  stage.onEnd(() => {
    for (const socket of sockets) socket.destroy();
    listening.close();
  });
  return server;
};
