import { writeFileSync } from 'node:fs';
import { Observable, VirtualTimeScheduler } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../embedded/eventually.js';
import { Authority } from '../kube-api/authority.js';
import { EXEC, StreamStage } from './stream-stage.js';
import { header } from './stream-client.js';
import { ACCEPTED, type Behaviour, echoing, replying } from './streaming-peer.js';

describe('a stream', () => {
  let stage: StreamStage;
  beforeEach(async () => {
    stage = await StreamStage.make();
  });
  afterEach(() => stage.dispose());

  it('ends with the streaming server: the client receives the rest, and may still send for a while', async () => {
    const scheduler = new VirtualTimeScheduler();
    await stage.begin({ scheduler });
    const rest = 'x'.repeat(1_000_000);
    stage.peer.behaviour = (socket) => socket.end(`${ACCEPTED}${rest}`);
    const client = await stage.connect({ allowHalfOpen: true });
    client.socket.write(header('POST', EXEC));
    const sending = setInterval(() => client.socket.write('more'), 5);
    try {
      expect(await client.readToEnd()).toBe(`${ACCEPTED}${rest}`);
      expect(client.socket.closed).toBe(false);
    } finally {
      clearInterval(sending);
    }
    await eventually('the time after the end has passed', () => {
      scheduler.flush();
      return stage.peer.newest.destroyed;
    });
    client.socket.end();
    await stage.allClosed();
  });

  it('ends with its client: the streaming server receives the rest', async () => {
    await stage.begin();
    let received = 0;
    stage.peer.behaviour = (socket) => {
      socket.write(ACCEPTED);
      socket.on('data', (part) => (received += part.length)).on('end', () => socket.end());
    };
    const client = await stage.open();
    const rest = Buffer.alloc(5_000_000);
    client.socket.end(rest);
    await client.readToEnd();
    await eventually('all bytes have come', () => received === rest.length);
    await stage.allClosed();
  });

  it('cuts off a refusal that does not end in time', async () => {
    const scheduler = new VirtualTimeScheduler();
    await stage.begin({ scheduler });
    stage.peer.behaviour = replying('HTTP/1.1 403 Forbidden\r\nContent-Length: 100\r\n\r\npart');
    const client = await stage.connect();
    client.socket.write(header('POST', EXEC));
    await client.readUntil('part');
    expect(client.socket.closed).toBe(false);
    scheduler.flush();
    await client.readToEnd();
    await stage.allClosed();
  });

  it('leaves no descriptor when clients and servers vanish at any stage', async () => {
    await stage.begin();
    const stuck: Behaviour = () => undefined;
    for (let round = 0; round < 12; round += 1) {
      stage.peer.behaviour = stuck;
      const waiting = await stage.connect();
      const count = stage.peer.headers.length;
      waiting.socket.write(header('POST', EXEC));
      await eventually('the server has the request', () => stage.peer.headers.length > count);
      waiting.socket.destroy();

      stage.peer.behaviour = echoing;
      const [gone, reset] = [await stage.open(), await stage.open()];
      gone.socket.write('half');
      gone.socket.destroy();
      stage.peer.newest.resetAndDestroy();
      await reset.readToEnd();
    }
    await stage.allClosed();
    const { body } = await stage.ask({ path: '/metrics', token: 'admin' });
    const labels = '{method="POST",path="exec",server_type="readwrite",long_running="true"}';
    expect(body).toContain(`kubelet_http_inflight_requests${labels} 0\n`);
    expect(body).toContain(`kubelet_http_requests_total${labels} 36\n`);
  });
  it('holds little memory for a reader that does not read, in both directions', async () => {
    await stage.begin();
    const total = 128 * 2 ** 20;
    /** Mostly the buffers of the system, of both connections. */
    const most = total / 2;
    const chunk = Buffer.alloc(2 ** 20);
    const writeAll = (socket: { write: (bytes: Buffer) => unknown }): void => {
      for (let sent = 0; sent < total; sent += chunk.length) socket.write(chunk);
    };
    const turns = async (): Promise<void> => {
      for (let turn = 0; turn < 2_000; turn += 1) await new Promise((resolve) => setImmediate(resolve));
    };
    stage.peer.behaviour = (socket) => {
      socket.pause();
      socket.write(ACCEPTED);
    };
    const client = await stage.open();
    const server = stage.peer.newest;
    for (const [from, to] of [
      [client.socket, server],
      [server, client.socket],
    ] as const) {
      /** The bytes that the system has taken from the writer. */
      const written = (): number => from.bytesWritten - from.writableLength;
      const start = written();
      writeAll(from);
      await turns();
      expect(written() - start).toBeLessThan(most);
      let read = 0;
      to.on('data', (part: Buffer) => (read += part.length)).resume();
      await eventually('all bytes have come', () => read >= total);
      to.pause();
    }
  });

  it('ends with the server', async () => {
    await stage.begin();
    const [one, other] = [await stage.open(), await stage.open()];
    expect(await one.echoes('a')).toBe(true);
    stage.stop();
    await Promise.all([one, other].map((client) => client.readToEnd()));
    await stage.allClosed();
  });

  it('ends with a changed client authority', async () => {
    await stage.begin();
    const client = await stage.open();
    writeFileSync(stage.files.clientCa, new Authority(stage.subfolder('other')).ca);
    expect((await stage.ask({ path: '/pods', token: 'admin' })).status).toBe(200);
    await client.readToEnd();
    await eventually(
      'the streaming server sees the end',
      () => stage.peer.newest.destroyed || stage.peer.newest.readableEnded,
    );
  });

  it('outlives the time limits of requests and many idle connections', async () => {
    await stage.begin();
    const client = await stage.open();
    const idle = await Promise.all(Array.from({ length: 60 }, () => stage.connect()));
    expect(await client.echoes('beside idle ones')).toBe(true);
    for (const { socket } of idle) socket.destroy();
    // One that began later reaches its limit.
    const slow = await stage.connect();
    slow.socket.write('GET /pods HTTP/1.1\r\nHost: x\r\nX-Slow: ');
    await slow.readToEnd();
    expect(await client.echoes('after the limit')).toBe(true);
  }, 60_000);

  it('that is not yet allowed has its review cancelled when its client disconnects', async () => {
    let state = 'none';
    const review$ = new Observable<never>(() => {
      state = 'under way';
      return () => (state = 'cancelled');
    });
    await stage.begin({}, { authorizeAccess: () => review$ });
    for (const leave of ['end', 'destroy'] as const) {
      const client = await stage.connect();
      client.socket.write(header('POST', EXEC));
      await eventually('the review is under way', () => state === 'under way');
      client.socket[leave]();
      await eventually('the review is cancelled', () => state === 'cancelled');
      client.socket.destroy();
    }
    expect(stage.calls).toEqual([]);
  });

  it('that the runtime has not yet answered is cancelled when its client disconnects', async () => {
    let state = 'none';
    const call$ = new Observable<never>(() => {
      state = 'under way';
      return () => (state = 'cancelled');
    });
    await stage.begin({ streaming: stage.streaming(() => call$) });
    const client = await stage.connect();
    client.socket.write(header('POST', EXEC));
    await eventually('the call is under way', () => state === 'under way');
    client.socket.destroy();
    await eventually('the call is cancelled', () => state === 'cancelled');
  });
});
