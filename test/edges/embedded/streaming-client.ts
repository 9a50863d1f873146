import { connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { SpdyConnection } from '../../../src/runtime/embedded/streaming/spdy/spdy-connection.js';
import type { SpdyStream } from '../../../src/runtime/embedded/streaming/spdy/spdy-stream.js';

export interface HttpAnswer {
  readonly statusCode: number;
  readonly head: string;
  readonly body: string;
}

const request = (url: URL, headers: readonly string[], method: string): string =>
  [`${method} ${url.pathname}${url.search} HTTP/1.1`, `Host: ${url.host}`, ...headers, '', ''].join('\r\n');

/** Reads the head of the answer; bytes behind it go back into the socket. */
const headOf = (socket: Socket): Promise<string> =>
  new Promise((resolve, reject) => {
    let bytes = Buffer.alloc(0);
    const read = (): void => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        bytes = Buffer.concat([bytes, chunk]);
        const end = bytes.indexOf('\r\n\r\n');
        if (end === -1) continue;
        socket.off('readable', read);
        const rest = bytes.subarray(end + 4);
        if (rest.length > 0) socket.unshift(rest);
        return resolve(bytes.subarray(0, end).toString());
      }
    };
    socket.on('readable', read);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('closed before an answer')));
  });

export const textOf = async (stream: AsyncIterable<unknown>): Promise<string> => {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
};

/** An answer that is no upgrade. */
export const ask = async (address: string, headers: readonly string[], method = 'POST'): Promise<HttpAnswer> => {
  const url = new URL(address);
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.write(request(url, headers, method));
  const head = await headOf(socket);
  const body = await textOf(socket);
  return { statusCode: Number(/^HTTP\/1\.1 (\d+)/.exec(head)?.[1]), head, body };
};

export const upgradeHeaders = (protocols: string): readonly string[] => [
  'Connection: Upgrade',
  'Upgrade: SPDY/3.1',
  `X-Stream-Protocol-Version: ${protocols}`,
];

/** A client over SPDY, as that of kubectl; made of the same codec. */
export const spdyClient = async (
  address: string,
  protocols: string,
): Promise<{ connection: SpdyConnection; socket: Socket; protocol: string }> => {
  const url = new URL(address);
  const socket = connect({ host: url.hostname, port: Number(url.port) });
  socket.write(request(url, upgradeHeaders(protocols), 'POST'));
  const head = await headOf(socket);
  if (!head.startsWith('HTTP/1.1 101 ')) throw new Error(`no upgrade: ${head}`);
  const connection = new SpdyConnection(socket, { side: 'client', accept: () => false, streamsMax: 0 });
  return { connection, socket, protocol: /^X-Stream-Protocol-Version: (.*)$/m.exec(head)?.[1] ?? '' };
};

export interface CommandClient {
  readonly connection: SpdyConnection;
  readonly socket: Socket;
  /** The streams by their types. */
  readonly streams: Readonly<Record<string, SpdyStream>>;
  /** The end in the text of the error stream. */
  readonly ended: Promise<string>;
}

/** Opens the streams of the types, and half-closes those that a client never writes to. */
export const commandClient = async (
  address: string,
  types: readonly string[],
  protocols = 'v4.channel.k8s.io',
): Promise<CommandClient> => {
  const { connection, socket } = await spdyClient(address, protocols);
  const streams: Record<string, SpdyStream> = {};
  for (const type of ['error', ...types]) {
    const stream = connection.open(new Map([['streamType', type]]));
    if (type !== 'stdin' && type !== 'resize') stream.end();
    streams[type] = stream;
  }
  const ended = textOf(streams.error as Duplex);
  // A test that makes the client vanish does not read it.
  ended.catch(() => undefined);
  return { connection, socket, streams, ended };
};
