import { once } from 'node:events';
import { renameSync, symlinkSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createServer } from 'node:tls';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiError } from '../../../src/model/kube-api/api-error.js';
import { afterWatch } from '../../../src/model/reflector/watch-end.js';
import { eventually } from '../../embedded/eventually.js';
import { silentRelay } from '../../support/silent-relay.js';
import { apiStage } from './api-stage.js';
import { type Http2Seen, type Http2Server, http2Server, json2 } from './http2-server.js';
import { answerWatches, errorOf, event, eventsOf, GET, isOpen, LIVED, PUT, watching } from './http2-watches.js';

const stage = apiStage();
afterAll(stage.end);

let server: Http2Server;
beforeEach(async () => {
  server = await http2Server(stage);
});

describe('a server that says that it goes away', () => {
  it('finishes the requests that it has processed; the others are sent again over a new connection, without an error', async () => {
    const api = stage.client({ server: server.url });
    server.answer = answerWatches;
    const watch = watching(api, '/w');
    await eventually('the watch is open', () => isOpen(watch));
    const ofWatch = server.seen[0]!;
    const counted: unknown[] = [];
    server.answer = (seen) => {
      if (seen.connection > 1) return json2(seen.stream, 200, { kind: 'Second' });
      counted.push(seen.line);
      // The stream of the watch is the last that it has processed.
      if (counted.length === 2) seen.session.goaway(0, ofWatch.stream.id);
    };
    const replies = await Promise.all([lastValueFrom(api.request(GET)), lastValueFrom(api.request(PUT))]);
    expect(replies).toEqual([{ kind: 'Second' }, { kind: 'Second' }]);
    // A watch that it has processed goes on over the old connection.
    ofWatch.stream.write(event('late'));
    await eventually('the event is there', () => eventsOf(watch) === 1);
    expect(watch.came).not.toContain('complete');
    ofWatch.stream.end();
    await eventually('the watch ends', () => watch.came.at(-1) === 'complete');
    await eventually('the old connection is closed', () => server.sockets.size === 1);
  });

  it('with an error fails what it has processed, and the others are sent again', async () => {
    const api = stage.client({ server: server.url });
    server.answer = (seen) => {
      if (seen.connection > 1) json2(seen.stream, 200, { kind: 'Second' });
      else if (server.seen.length === 2) seen.session.goaway(11, server.seen[0]!.stream.id);
    };
    const first = errorOf(lastValueFrom(api.request(PUT)));
    await eventually('the first is there', () => server.seen.length === 1);
    expect(await lastValueFrom(api.request({ ...PUT, path: '/second' }))).toEqual({ kind: 'Second' });
    expect((await first).code).toBe(undefined);
  });

  it('and refuses each request fails it after seven attempts', async () => {
    const counted: unknown[] = [];
    const metrics = { apiAttempt: (...attempt: unknown[]) => void counted.push(attempt) };
    const api = stage.client({ server: server.url }, { metrics });
    server.answer = ({ stream }) => stream.close(7);
    const error = await errorOf(lastValueFrom(api.request(PUT)));
    expect(error.message).toContain('NGHTTP2_REFUSED_STREAM');
    expect(server.seen).toHaveLength(7);
    expect(counted).toEqual([['PUT', api.host, undefined]]);
  });

  it('when nothing is under way is not noticed', async () => {
    const relay = await silentRelay(server.port);
    stage.onEnd(relay.close);
    const api = stage.client({ server: `https://127.0.0.1:${relay.port}` });
    for (let round = 1; round <= 5; round++) {
      await lastValueFrom(api.request(PUT));
      server.seen.at(-1)!.session.goaway(0);
      await eventually('the connection is closed', () => relay.open() === 0);
    }
    expect(server.opened()).toBe(5);
  });
});

describe('a connection that breaks', () => {
  it('ends each of its watches with an error, after the events before; a watch goes on from there', async () => {
    const api = stage.client({ server: server.url });
    server.answer = ({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.write(event('a'));
    };
    const watches = ['/a', '/b'].map((path) => watching(api, path));
    await eventually('the events are there', () => watches.every(({ came }) => came.length === 2));
    for (const socket of server.sockets) socket.destroy();
    await eventually('they fail', () => watches.every(({ came }) => came.length === 3));
    for (const { came } of watches) {
      expect(came[2]).toMatchObject({ code: undefined, cause: { code: 'ECONNRESET' } });
      expect(afterWatch({ how: { kind: 'failed', error: came[2] }, ...LIVED }).next).toBe('again');
    }
  });

  it('fails a reply that is not whole', async () => {
    const api = stage.client({ server: server.url });
    server.answer = ({ stream }) => {
      stream.respond({ ':status': 200 });
      // Valid, but not the end.
      stream.write('{}');
    };
    const call = errorOf(lastValueFrom(api.request(GET)));
    await eventually('it is asked', () => server.seen.length === 1);
    for (const socket of server.sockets) socket.destroy();
    expect(await call).toMatchObject({ code: undefined, message: 'GET /api/v1/nodes/n: aborted' });
  });

  it('is replaced for a read if it had been in use, and fails a write, which may have been carried out', async () => {
    const api = stage.client({ server: server.url });
    await lastValueFrom(api.request(GET));
    const breaks = ({ connection, stream }: Http2Seen): void => {
      if (connection > 1) return json2(stream, 200, { kind: 'Second' });
      for (const socket of server.sockets) socket.destroy();
    };
    server.answer = breaks;
    const [read, written] = await Promise.allSettled([
      lastValueFrom(api.request(GET)),
      lastValueFrom(api.request(PUT)),
    ]);
    expect(read).toMatchObject({ status: 'fulfilled', value: { kind: 'Second' } });
    expect(written).toMatchObject({ status: 'rejected', reason: { code: undefined } });
  });

  it('before its first answer is not tried again', async () => {
    server.answer = () => {
      for (const socket of server.sockets) socket.destroy();
    };
    const error = await errorOf(lastValueFrom(stage.client({ server: server.url }).request(GET)));
    expect(error).toMatchObject({ code: undefined, cause: { code: 'ECONNRESET' } });
    expect(server.seen).toHaveLength(1);
  });

  it('is not distinguished from a slow one by failed heartbeats, but by pings', async () => {
    const api = stage.client({ server: server.url });
    server.answer = answerWatches;
    const watch = watching(api, '/w');
    await eventually('it is open', () => isOpen(watch));
    api.resetConnections();
    server.seen[0]!.stream.write(event('a'));
    await eventually('the event is there', () => eventsOf(watch) === 1);
    watch.subscription.unsubscribe();
    await eventually('it is reset', () => server.reset.length === 1);
    api.resetConnections();
    await eventually('the unused connection is closed', () => server.sockets.size === 0);
  });

  it('without pings is closed after failed heartbeats, with all that is under way', async () => {
    const api = stage.client({ server: server.url }, { env: { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '0' } });
    server.answer = answerWatches;
    const watch = watching(api, '/w');
    await eventually('it is open', () => isOpen(watch));
    server.answer = () => undefined;
    const waiting = errorOf(lastValueFrom(api.request(PUT)));
    await eventually('the request is there', () => server.seen.length === 2);
    api.resetConnections();
    expect(await waiting).toMatchObject({ code: undefined });
    expect(watch.came.at(-1)).toBeInstanceOf(ApiError);
    server.answer = answerWatches;
    await lastValueFrom(api.request(GET));
    expect(server.seen.at(-1)!.connection).toBe(2);
  });
});

describe('a connection that dies silently', () => {
  it('is found dead by a ping: its watches and requests end, and are opened again over a new one', async () => {
    const relay = await silentRelay(server.port);
    stage.onEnd(relay.close);
    const env = { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '1', HTTP2_PING_TIMEOUT_SECONDS: '1' };
    const api = stage.client({ server: `https://127.0.0.1:${relay.port}` }, { env });
    server.answer = answerWatches;
    const watches = ['/a', '/b', '/c'].map((path) => watching(api, path));
    await eventually('they are open', () => watches.every(isOpen));
    relay.silence();
    const written = errorOf(lastValueFrom(api.request(PUT)));
    const read = lastValueFrom(api.request(GET));
    expect((await written).message).toBe('PUT /api/v1/nodes/n: no answer to a ping within 1 s');
    for (const { came } of watches) {
      expect(came[1]).toMatchObject({ code: undefined });
      expect(afterWatch({ how: { kind: 'failed', error: came[1] }, ...LIVED }).next).toBe('again');
    }
    // The connection had been in use.
    expect(await read).toEqual({ kind: 'Ok' });
    expect(relay.opened()).toBe(2);
    await eventually('the dead one is closed', () => relay.open() === 1);
    expect(stage.logged).toContain(
      'the connection to the API server is closed {"error":"Error: no answer to a ping within 1 s"}',
    );
  });

  it('is pinged only in silence, and lives on with the answers', async () => {
    const api = stage.client({ server: server.url }, { env: { HTTP2_READ_IDLE_TIMEOUT_SECONDS: '1' } });
    server.answer = answerWatches;
    const watch = watching(api, '/w');
    await eventually('two pings', () => server.pings() >= 2);
    expect(watch.came).toEqual([{ kind: 'opened' }]);
    expect(server.opened()).toBe(1);
  });
});

describe('more requests than the server accepts at a time', () => {
  it('go over further connections', async () => {
    const narrow = await http2Server(stage, { maxConcurrentStreams: 3 });
    const api = stage.client({ server: narrow.url });
    narrow.answer = answerWatches;
    const watches = Array.from({ length: 10 }, (_, index) => watching(api, `/w/${index}`));
    await eventually('all are open', () => watches.every(isOpen));
    expect(narrow.opened()).toBe(4);
    expect(await lastValueFrom(api.request(GET))).toEqual({ kind: 'Ok' });
    expect(narrow.opened()).toBe(4);
    // A place that becomes free is used.
    watches[0]!.subscription.unsubscribe();
    await eventually('it is reset', () => narrow.reset.length === 1);
    await Promise.all([lastValueFrom(api.request(GET)), lastValueFrom(api.request(PUT))]);
    expect(narrow.opened()).toBe(4);
  });

  it('wait if it accepts none for now', async () => {
    const closed = await http2Server(stage, { maxConcurrentStreams: 0 });
    const api = stage.client({ server: closed.url });
    const reply = lastValueFrom(api.request(GET));
    await eventually('it is connected', () => closed.opened() === 1);
    expect(closed.seen).toEqual([]);
    api.close();
    await errorOf(reply);
  });
});

describe('other certificates', () => {
  it('are used over a new connection; requests that are under way finish over the old one, which is then closed', async () => {
    const write = (name: string, commonName: string) => {
      const { cert, key } = stage.ca.client(commonName);
      return stage.write(name, cert + key);
    };
    const current = join(stage.folder, 'current-2.pem');
    symlinkSync(write('first-2.pem', 'first'), current);
    const api = stage.client({ server: server.url, user: { certificate: { file: current }, key: { file: current } } });
    server.answer = answerWatches;
    const watch = watching(api, '/w');
    await eventually('it is open', () => isOpen(watch));
    symlinkSync(write('second-2.pem', 'second'), join(stage.folder, 'next-2.pem'));
    renameSync(join(stage.folder, 'next-2.pem'), current);
    await lastValueFrom(api.request(GET));
    await lastValueFrom(api.request(GET));
    expect(server.seen.map(({ from, connection }) => [from, connection])).toEqual([
      ['first', 1],
      ['second', 2],
      ['second', 2],
    ]);
    const { stream } = server.seen[0]!;
    stream.write(event('a'));
    await eventually('the event is there', () => eventsOf(watch) === 1);
    expect(server.sockets.size).toBe(2);
    stream.end();
    await eventually('the old connection is closed', () => server.sockets.size === 1);
    expect(watch.came.at(-1)).toBe('complete');
  });
});

describe('connections without requests', () => {
  it('are closed when asked, and those in use are not', async () => {
    const api = stage.client({ server: server.url });
    await lastValueFrom(api.request(GET));
    api.closeIdle();
    await eventually('it is closed', () => server.sockets.size === 0);
    server.answer = answerWatches;
    const watch = watching(api, '/w');
    await eventually('it is open', () => isOpen(watch));
    api.closeIdle();
    await lastValueFrom(api.request(GET));
    expect(server.seen.at(-1)!.connection).toBe(2);
    expect(watch.came).toEqual([{ kind: 'opened' }]);
  });

  it('are closed after a while', async () => {
    const api = stage.client({ server: server.url }, { idleMs: 50 });
    await lastValueFrom(api.request(GET));
    await eventually('it is closed', () => server.sockets.size === 0);
    await lastValueFrom(api.request(GET));
    expect(server.opened()).toBe(2);
  });
});

describe('a server that has chosen HTTP/2', () => {
  it('and does not speak it is given up', async () => {
    const silent = createServer({ ...stage.ca.server(), ALPNProtocols: ['h2'] }, (socket) => {
      socket.on('error', () => undefined).resume();
    });
    silent.listen(0, '127.0.0.1');
    await once(silent, 'listening');
    stage.onEnd(() => silent.close());
    const url = `https://127.0.0.1:${(silent.address() as AddressInfo).port}`;
    const api = stage.client({ server: url }, { tlsHandshakeMs: 500 });
    expect((await errorOf(lastValueFrom(api.request(GET)))).message).toBe(
      'GET /api/v1/nodes/n: no settings of HTTP/2 after 0.5 s',
    );
  });
});
