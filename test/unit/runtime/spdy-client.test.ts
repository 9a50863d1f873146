import { Duplex } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { SpdyConnection } from '../../../src/runtime/embedded/streaming/spdy/spdy-connection.js';
import { FrameEncoder } from '../../../src/runtime/embedded/streaming/spdy/spdy-frames.js';

/** A client over a socket of which the test plays the server. */
const client = () => {
  const written: Buffer[] = [];
  const socket = new Duplex({
    read: () => undefined,
    write: (part: Buffer, _, done) => {
      written.push(part);
      done();
    },
  });
  const connection = new SpdyConnection(socket, {
    side: 'client',
    streamsMax: 0,
    accept: () => false,
    arrivedData: 'keep',
  });
  return { connection, socket, written };
};

describe('a client of SPDY', () => {
  it('reads all data that a server has sent before it reset the stream and ended the connection', async () => {
    const { connection, socket } = client();
    const [slow, other] = [connection.open(new Map()), connection.open(new Map())];
    const encoder = new FrameEncoder();
    socket.push(encoder.encode({ kind: 'data', streamId: slow.id, data: Buffer.from('output'), isLast: false }));
    socket.push(encoder.encode({ kind: 'data', streamId: other.id, data: Buffer.from('status'), isLast: false }));
    socket.push(encoder.encode({ kind: 'reset', streamId: slow.id, status: 5 }));
    socket.push(null);
    await new Promise((resolve) => connection.gone.addEventListener('abort', resolve, { once: true }));
    expect([await text(slow), await text(other)]).toEqual(['output', 'status']);
  });

  it('writes nothing more to a stream that the server has reset, and does not wait for it', async () => {
    const { connection, socket, written } = client();
    const stream = connection.open(new Map());
    socket.push(new FrameEncoder().encode({ kind: 'reset', streamId: stream.id, status: 5 }));
    expect(await text(stream)).toBe('');
    const before = written.length;
    stream.on('error', () => undefined);
    await new Promise<void>((resolve) => stream.write('late', () => resolve()));
    expect(written.length).toBe(before);
  });
});
