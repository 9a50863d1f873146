import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { SpdyConnection } from '../../../src/runtime/embedded/streaming/spdy/spdy-connection.js';
import type { SpdyStream } from '../../../src/runtime/embedded/streaming/spdy/spdy-stream.js';
import { convertedStatus } from '../../../src/server/streaming/converted-status.js';
import { LINGER_MS } from '../../../src/server/streaming/stream-end.js';
import { eventually } from '../../embedded/eventually.js';
import { StreamStage } from './stream-stage.js';
import { replying } from './streaming-peer.js';

const V5 = 'v5.channel.k8s.io';
const PATH = '/exec/d/p/c?command=sh';
const SUCCESS = '{"metadata":{},"status":"Success"}';
const accepted = (protocol: string): string =>
  `HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Stream-Protocol-Version: ${protocol}\r\n\r\n`;
const [STDIN, STDOUT, ERROR, RESIZE, HALF_CLOSE] = [0, 1, 3, 4, 255];

type Streams = ReadonlyMap<string, SpdyStream>;

/** A runtime that speaks SPDY alone: calls `run` when the client has opened `count` streams. */
const runtime =
  (count: number, run: (streams: Streams, socket: Socket) => void, protocol = 'v4.channel.k8s.io') =>
  (socket: Socket, _: string, rest: Buffer): void => {
    socket.write(accepted(protocol));
    if (rest.length > 0) socket.unshift(rest);
    const streams = new Map<string, SpdyStream>();
    new SpdyConnection(socket, {
      side: 'server',
      streamsMax: count,
      arrivedData: 'keep',
      accept: (stream) => {
        streams.set(stream.headers.get('streamtype') ?? '', stream);
        if (streams.size === count) run(streams, socket);
        return true;
      },
    });
  };

const finish = (streams: Streams, report: string): void => {
  streams.get('stdout')?.end();
  streams.get('error')?.end(report);
};

/** Sends back its input, and ends with it. */
const cat = (streams: Streams): void => {
  const input = streams.get('stdin')!;
  const output = streams.get('stdout')!;
  input.pipe(output, { end: false });
  input.on('end', () => {
    output.write('end of input');
    finish(streams, SUCCESS);
  });
};

describe('a command over a WebSocket whose client can end its input alone', () => {
  let stage: StreamStage;
  let counted: string[];
  let clients: WebSocket[];
  beforeEach(async () => {
    [counted, clients] = [[], []];
    stage = await StreamStage.make();
  });
  afterEach(() => {
    for (const client of clients) client.terminate();
    stage.dispose();
  });

  const begin = (isOn = true, scheduler?: VirtualTimeScheduler) =>
    stage.begin({
      ...(scheduler && { scheduler }),
      ...(isOn && {
        convert: {
          count: (subresource) => counted.push(subresource),
          openSpdy: (connection) =>
            new SpdyConnection(connection, {
              ...{ side: 'client', streamsMax: 0, arrivedData: 'keep' },
              accept: () => false,
            }),
        },
      }),
    });

  const connect = (query: string, protocols: readonly string[] = [V5]) => {
    const { hostname, port } = stage.url;
    const headers = { Host: 'node:10250', Authorization: 'Bearer admin' };
    const url = `wss://${hostname}:${port}${PATH}${query}`;
    const socket = new WebSocket(url, [...protocols], { headers, rejectUnauthorized: false });
    clients.push(socket.on('error', () => undefined));
    const messages: Buffer[] = [];
    socket.on('message', (message: Buffer) => messages.push(message));
    const of = (channel: number): Buffer =>
      Buffer.concat(messages.filter(([first]) => first === channel).map((message) => message.subarray(1)));
    const send = (channel: number, content: string | Buffer): void =>
      socket.send(Buffer.concat([Buffer.from([channel]), Buffer.from(content)]));
    const opened = new Promise((resolve) => socket.once('open', resolve));
    const closed = new Promise((resolve) => socket.once('close', resolve));
    return { socket, messages, of, send, opened, closed };
  };

  it('reaches a runtime that speaks SPDY alone: the end of its input, its output and its status', async () => {
    await begin();
    stage.peer.behaviour = runtime(3, cat);
    const { socket, messages, of, send, opened, closed } = connect('&input=1&output=1', ['v4.channel.k8s.io', V5]);
    await opened;
    expect(socket.protocol).toBe(V5);
    send(STDIN, 'some input, ');
    send(HALF_CLOSE, Buffer.from([STDIN]));
    expect(await closed).toBe(1000);
    // The first message shows that the streams are open.
    expect(messages[0]).toEqual(Buffer.from([STDOUT]));
    expect([of(STDOUT).toString(), of(ERROR).toString()]).toEqual(['some input, end of input', SUCCESS]);
    expect(messages.at(-1)?.[0]).toBe(ERROR);
    expect(stage.firstHeaders()).toEqual([
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      ...[V5, 'v4.channel.k8s.io', 'v3.channel.k8s.io', 'v2.channel.k8s.io', 'channel.k8s.io'].map(
        (protocol) => `X-Stream-Protocol-Version: ${protocol}`,
      ),
      'X-Forwarded-For: 127.0.0.1',
    ]);
    expect(counted).toEqual(['exec']);
    await stage.allClosed();
  });

  it('has the sizes of its terminal', async () => {
    await begin();
    const sizes: string[] = [];
    stage.peer.behaviour = runtime(3, (streams) => {
      streams.get('resize')!.once('data', (size: Buffer) => {
        sizes.push(size.toString());
        finish(streams, SUCCESS);
      });
    });
    const { send, opened, closed } = connect('&output=1&tty=1');
    await opened;
    send(RESIZE, '{"Width":80,"Height":24}');
    await closed;
    expect(sizes).toEqual(['{"Width":80,"Height":24}']);
    await stage.allClosed();
  });

  it('passes large amounts unchanged in both directions', async () => {
    await begin();
    stage.peer.behaviour = runtime(3, cat);
    const { of, send, opened, closed } = connect('&input=1&output=1');
    await opened;
    const sent = randomBytes(5 * 2 ** 20);
    for (let at = 0; at < sent.length; at += 2 ** 16) send(STDIN, sent.subarray(at, at + 2 ** 16));
    send(HALF_CLOSE, Buffer.from([STDIN]));
    await closed;
    const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect(sum(of(STDOUT))).toBe(sum(Buffer.concat([sent, Buffer.from('end of input')])));
  });

  it('does not read from its client what the runtime does not take', async () => {
    await begin();
    let streams: Streams | undefined;
    stage.peer.behaviour = runtime(2, (opened) => (streams = opened));
    const { socket, send, opened } = connect('&input=1');
    await opened;
    // Mostly the buffers of the system, of both connections.
    const total = 64 * 2 ** 20;
    for (let sent = 0; sent < total; sent += 2 ** 20) send(STDIN, Buffer.alloc(2 ** 20));
    for (let turn = 0; turn < 2_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    expect(socket.bufferedAmount).toBeGreaterThan(total / 2);
    let read = 0;
    streams!.get('stdin')!.on('data', (part: Buffer) => (read += part.length));
    await eventually('all bytes have come', () => read === total);
  });

  it('ends with its client, and the runtime has what was sent before', async () => {
    await begin();
    let input: Promise<string> | undefined;
    stage.peer.behaviour = runtime(3, (streams) => {
      input = text(streams.get('stdin')!);
    });
    const { socket, send, opened } = connect('&input=1&output=1');
    await opened;
    send(STDIN, 'x'.repeat(100_000));
    socket.close();
    await eventually('the runtime has the streams', () => input !== undefined);
    expect((await input)?.length).toBe(100_000);
    await stage.allClosed();
  });

  it('reports that the runtime has broken off', async () => {
    await begin();
    stage.peer.behaviour = runtime(2, (streams, socket) => {
      streams.get('stdout')!.write('half', () => socket.destroy());
    });
    const { of, closed } = connect('&output=1');
    await closed;
    expect(of(STDOUT).toString()).toBe('half');
    expect(JSON.parse(of(ERROR).toString())).toMatchObject({
      ...{ status: 'Failure', reason: 'InternalError' },
      message: 'Internal error occurred: the connection was closed before the end was reported',
    });
    await stage.allClosed();
  });

  it('is closed some time after its end, if its client does not close it', async () => {
    const scheduler = new VirtualTimeScheduler();
    await begin(true, scheduler);
    let streams: Streams | undefined;
    stage.peer.behaviour = runtime(2, (opened) => (streams = opened));
    const { socket, messages, opened } = connect('&output=1');
    await opened;
    await eventually('the streams are open', () => streams !== undefined && messages.length === 1);
    // It does not read that it is asked to close.
    socket.pause();
    finish(streams!, SUCCESS);
    await eventually('the time after the end has passed', () => {
      scheduler.flush();
      return stage.peer.newest.destroyed;
    });
    // And not by a limit of the package for WebSockets.
    expect(scheduler.now()).toBe(LINGER_MS);
  });

  it('has a success of an older runtime', async () => {
    await begin();
    stage.peer.behaviour = runtime(2, (streams) => finish(streams, ''), 'v2.channel.k8s.io');
    const { of, closed } = connect('&output=1&tty=1');
    await closed;
    expect(of(ERROR).toString()).toBe(SUCCESS);
  });

  it('has the refusal of the runtime', async () => {
    await begin();
    stage.peer.behaviour = replying('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    const { socket } = connect('&output=1');
    const [, reply] = (await once(socket, 'unexpected-response')) as [unknown, { statusCode: number }];
    expect(reply.statusCode).toBe(403);
  });

  it.each([
    ['the gate is off', false, V5],
    ['it offers another version', true, 'v4.channel.k8s.io'],
  ])('is passed on as it is when %s', async (_, isOn, protocol) => {
    await begin(isOn);
    stage.peer.behaviour = replying('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    const { socket } = connect('&output=1', [protocol]);
    await once(socket, 'unexpected-response');
    expect(stage.peer.headers[0]).toContain('GET /exec/t0ken?x=1 HTTP/1.1\r\n');
    expect(stage.peer.headers[0]).toContain(`Sec-WebSocket-Protocol: ${protocol}`);
    expect(counted).toEqual([]);
  });
});

it.each([
  ['v4.channel.k8s.io', '{"status":"Failure"}', { status: 'Failure' }],
  ['v3.channel.k8s.io', '', { metadata: {}, status: 'Success' }],
  ['channel.k8s.io', 'no such file', { message: 'Internal error occurred: no such file', code: 500 }],
])('the report over %s of %j becomes a status', (protocol, report, expected) => {
  expect(JSON.parse(convertedStatus(report, protocol))).toMatchObject(expected);
});
