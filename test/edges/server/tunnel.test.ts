import { createHash, randomBytes } from 'node:crypto';
import { of, Subject } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { spdyHeaders, tunnelledProtocols } from '../../../src/model/server/spdy-tunnel.js';
import { eventually } from '../../embedded/eventually.js';
import { running, StreamStage } from './stream-stage.js';
import { header, type StreamClient } from './stream-client.js';
import { replying, type Behaviour } from './streaming-peer.js';

const PATH = '/portForward/d/p';
const OFFER = 'SPDY/3.1+portforward.k8s.io';
const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
const webSocket = (protocols: string, key = KEY): string =>
  `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${key}\r\nSec-WebSocket-Protocol: ${protocols}\r\n`;
const SPDY_ACCEPTED =
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: SPDY/3.1\r\nConnection: Upgrade\r\nX-Stream-Protocol-Version: portforward.k8s.io\r\n\r\n';
const [BINARY, CLOSE] = [2, 8];

/** Accepts, and sends back all that it receives. */
const echoing: Behaviour = (socket, _, rest) => {
  socket.write(SPDY_ACCEPTED);
  socket.write(rest);
  socket.pipe(socket);
};

/** A message of a client, whose mask of zeros leaves the content as it is. */
const message = (opcode: number, content: Buffer): Buffer => {
  const isShort = content.length < 126;
  const length = Buffer.alloc(isShort ? 1 : 9);
  length.writeUInt8(0x80 | (isShort ? content.length : 127));
  if (!isShort) length.writeBigUInt64BE(BigInt(content.length), 1);
  return Buffer.concat([Buffer.from([0x80 | opcode]), length, Buffer.alloc(4), content]);
};

/** The frames of a server in these bytes; a frame that has not come whole is left out. */
const framesIn = (bytes: Buffer): readonly { readonly opcode: number; readonly content: Buffer }[] => {
  const frames: { opcode: number; content: Buffer }[] = [];
  for (let at = 0; at + 2 <= bytes.length;) {
    const short = bytes.readUInt8(at + 1) & 0x7f;
    const begin = at + (short === 127 ? 10 : short === 126 ? 4 : 2);
    if (begin > bytes.length) break;
    const length =
      short === 127 ? Number(bytes.readBigUInt64BE(at + 2)) : short === 126 ? bytes.readUInt16BE(at + 2) : short;
    if (begin + length > bytes.length) break;
    frames.push({ opcode: bytes.readUInt8(at) & 0x0f, content: bytes.subarray(begin, begin + length) });
    at = begin + length;
  }
  return frames;
};

describe('a port-forward whose client sends SPDY in the messages of a WebSocket', () => {
  let stage: StreamStage;
  let count = 0;
  let asked = 0;
  beforeEach(async () => {
    count = asked = 0;
    stage = await StreamStage.make();
    stage.peer.behaviour = echoing;
  });
  afterEach(() => stage.dispose());

  const begin = (isOn = true, over: Parameters<StreamStage['begin']>[0] = {}) =>
    stage.begin({
      ...over,
      streaming: {
        ...stage.streaming(),
        portForward: () => {
          asked += 1;
          return of({ url: stage.urlOf() });
        },
      },
      ...(isOn && {
        convert: {
          count: (subresource) => void (count += subresource === 'portforward' ? 1 : 0),
          openSpdy: () => {
            throw new Error('the bytes of a tunnel are passed on as they are');
          },
        },
      }),
    });
  const open = async (): Promise<{
    readonly client: StreamClient;
    readonly frames: () => ReturnType<typeof framesIn>;
  }> => {
    const client = await stage.connect();
    client.socket.write(header('GET', PATH, webSocket(`v4.channel.k8s.io, ${OFFER}`)));
    const reply = await client.readUntil('\r\n\r\n');
    expect(reply.split('\r\n').slice(0, -2)).toEqual([
      'HTTP/1.1 101 Switching Protocols',
      'Upgrade: websocket',
      'Connection: Upgrade',
      'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
      `Sec-WebSocket-Protocol: ${OFFER}`,
    ]);
    const parts: Buffer[] = [];
    client.socket.on('data', (part: Buffer) => parts.push(part));
    return { client, frames: () => framesIn(Buffer.concat(parts)) };
  };

  it('is one of SPDY for the runtime, and needs no port in its query', async () => {
    await begin();
    await open();
    expect(stage.firstHeaders()).toEqual([
      'Connection: Upgrade',
      'Upgrade: SPDY/3.1',
      'X-Stream-Protocol-Version: portforward.k8s.io',
      'X-Forwarded-For: 127.0.0.1',
    ]);
    expect(count).toBe(1);
  });

  it('passes large amounts unchanged in both directions', async () => {
    await begin();
    const { client, frames } = await open();
    const sent = randomBytes(3 * 2 ** 20);
    for (let at = 0; at < sent.length; at += 2 ** 16) {
      client.socket.write(message(BINARY, sent.subarray(at, at + 2 ** 16)));
    }
    const received = () => Buffer.concat(frames().map(({ content }) => content));
    await eventually('all bytes have come back', () => received().length >= sent.length);
    expect(new Set(frames().map(({ opcode }) => opcode))).toEqual(new Set([BINARY]));
    const sum = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');
    expect(sum(received())).toBe(sum(sent));
  });

  it('ends with either side, and leaves no connection', async () => {
    await begin();
    const first = await open();
    first.client.socket.write(message(CLOSE, Buffer.from([0x03, 0xe8])));
    await stage.allClosed();
    const second = await open();
    stage.peer.newest.end();
    await eventually('the client is asked to close', () => second.frames().at(-1)?.opcode === CLOSE);
    second.client.socket.write(message(CLOSE, Buffer.from([0x03, 0xe8])));
    await stage.allClosed();
    const third = await open();
    third.client.socket.destroy();
    await stage.allClosed();
  });

  it('a tunnelled port-forward ends with its pod', async () => {
    const withSandbox = (state: 'SANDBOX_READY' | 'SANDBOX_NOTREADY') => ({
      ...running,
      sandboxes: [{ ...running.sandboxes[0]!, state }],
    });
    let pod = withSandbox('SANDBOX_READY');
    const podChange$ = new Subject<void>();
    await begin(true, { findRunning: () => pod, podChange$ });
    const { client, frames } = await open();
    client.socket.write(message(BINARY, Buffer.from('ping')));
    await eventually('it echoes', () => frames().length === 1);
    podChange$.next();
    client.socket.write(message(BINARY, Buffer.from('pong')));
    await eventually('it echoes after a change of another pod', () => frames().length === 2);
    pod = withSandbox('SANDBOX_NOTREADY');
    podChange$.next();
    await stage.allClosed();
  });

  it('is closed for a message that is none of a WebSocket, and the server goes on', async () => {
    await begin();
    const { client, frames } = await open();
    // Without a mask.
    client.socket.write(Buffer.from([0x82, 0x01, 0x61]));
    await eventually('the client is asked to close', () => frames().at(-1)?.opcode === CLOSE);
    client.socket.destroy();
    await stage.allClosed();
    await open();
  });

  it('has the refusal of the runtime', async () => {
    await begin();
    stage.peer.behaviour = replying('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    expect(await stage.refusalOf('GET', PATH, webSocket(OFFER))).toMatch(
      /^HTTP\/1\.1 403 Forbidden\r\n[^]*\r\n\r\nno$/,
    );
    await stage.allClosed();
  });

  it.each([
    ['a bad key', 'GET', webSocket(OFFER, 'short'), '400 Bad Request'],
    ['a method of its own', 'POST', webSocket(OFFER), '405 Method Not Allowed'],
    ['an old version', 'GET', webSocket(OFFER).replace('13', '7'), '400 Bad Request'],
  ])('does not reach the runtime with %s', async (_, method, lines, status) => {
    await begin();
    expect(await stage.refusalOf(method, PATH, lines)).toContain(`HTTP/1.1 ${status}\r\n`);
    await stage.allClosed();
    expect({ asked, headers: stage.peer.headers }).toEqual({ asked: 0, headers: [] });
  });

  it('is passed on as any other WebSocket while the gate is off', async () => {
    await begin(false);
    expect(await stage.refusalOf('GET', PATH, webSocket(OFFER))).toContain('query parameter "port" is required');
    stage.peer.behaviour = replying('HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno');
    await stage.refusalOf('GET', `${PATH}?port=80`, webSocket(OFFER));
    expect(stage.peer.headers[0]).toContain('GET /exec/t0ken?x=1 HTTP/1.1\r\n');
    expect(stage.peer.headers[0]).toContain(`Sec-WebSocket-Protocol: ${OFFER}`);
  });
});

it.each([
  [undefined, []],
  ['v4.channel.k8s.io', []],
  ['SPDY/3.1+portforward.k8s.io,SPDY/3.1+v2.portforward.k8s.io', ['portforward.k8s.io', 'v2.portforward.k8s.io']],
  ['SPDY/3.1+other.example.com, SPDY/2+portforward.k8s.io', []],
])('the offers %j have the protocols %j over SPDY', (offers, protocols) => {
  expect(tunnelledProtocols(offers)).toEqual(protocols);
});

it('the headers of an upgrade to SPDY have nothing of that to a WebSocket', () => {
  const raw = ['Host', 'h', 'SEC-WebSocket-Key', 'k', 'upgrade', 'websocket', 'Connection', 'upgrade', 'X-Other', 'o'];
  expect(spdyHeaders(raw, ['a.k8s.io', 'b.k8s.io'])).toEqual([
    ...['Host', 'h', 'X-Other', 'o', 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'],
    ...['X-Stream-Protocol-Version', 'a.k8s.io', 'X-Stream-Protocol-Version', 'b.k8s.io'],
  ]);
});
