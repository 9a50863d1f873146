import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '../../embedded/eventually.js';
import { apiStage } from './api-stage.js';
import { type Http2Server, http2Server, json2 } from './http2-server.js';
import { answerWatches, errorOf, event, eventsOf, GET, isOpen, PUT, watching } from './http2-watches.js';

const stage = apiStage();
afterAll(stage.end);

let server: Http2Server;
beforeEach(async () => {
  server = await http2Server(stage);
});

describe('with a server that speaks HTTP/2', () => {
  it('requests and watches share one connection, and have the headers and bodies of HTTP/1.1', async () => {
    server.answer = answerWatches;
    const api = stage.client({
      server: `${server.url}/prefix`,
      user: { token: 'secret', impersonate: { user: 'u', uid: '', groups: ['a', 'b'], extra: { 'x/y': ['1'] } } },
    });
    const watches = Array.from({ length: 40 }, (_, index) => watching(api, `/w/${index}`));
    await eventually('all are open', () => watches.every(isOpen));
    expect(await lastValueFrom(api.request({ ...GET, query: { limit: '5' } }))).toEqual({ kind: 'Ok' });
    await lastValueFrom(api.request({ method: 'POST', path: '/p', body: { name: 'ü' } }));
    expect(server.opened()).toBe(1);
    expect(server.seen.at(-2)).toMatchObject({
      line: 'GET /prefix/api/v1/nodes/n?limit=5',
      headers: {
        ':authority': `127.0.0.1:${server.port}`,
        accept: 'application/json',
        authorization: 'Bearer secret',
        'user-agent': 'rx-kubelet/1.2.3 (linux/amd64)',
        'impersonate-group': 'a, b',
        'impersonate-extra-x%2fy': '1',
      },
    });
    expect(server.seen.at(-1)).toMatchObject({
      line: 'POST /prefix/p',
      body: '{"name":"ü"}',
      headers: { 'content-type': 'application/json', 'content-length': '13' },
    });
  });

  it('a reply may be a Status, empty, or not from an API server', async () => {
    const api = stage.client({ server: server.url });
    server.answer = ({ stream }) =>
      json2(stream, 404, { kind: 'Status', code: 404, reason: 'NotFound', message: 'no' });
    expect(await errorOf(lastValueFrom(api.request(GET)))).toMatchObject({ code: 404, reason: 'NotFound' });
    server.answer = ({ stream }) => stream.respond({ ':status': 200 }, { endStream: true });
    expect(await lastValueFrom(api.request(GET))).toBe(undefined);
    expect(server.opened()).toBe(1);
  });

  it('a refused request is sent again with newer credentials, also if the refusal has no body', async () => {
    const path = stage.write('token', 'old');
    server.answer = ({ stream, headers }) => {
      if (headers.authorization === 'Bearer new') return json2(stream, 200, { kind: 'Ok' });
      stage.write('token', 'new');
      stream.respond({ ':status': 401 }, { endStream: true });
    };
    const api = stage.client({ server: server.url, user: { tokenFile: path } });
    expect(await lastValueFrom(api.request(PUT))).toEqual({ kind: 'Ok' });
    server.answer = ({ stream }) => stream.respond({ ':status': 401 }, { endStream: true });
    expect(await errorOf(lastValueFrom(api.request(PUT)))).toMatchObject({ code: 401 });
  });

  it('a header that is not valid is an error of its request alone', async () => {
    const api = stage.client({ server: server.url, user: { token: 'two\nlines' } });
    const error = await errorOf(lastValueFrom(api.request(GET)));
    expect(error.message).toContain('Invalid character in header content ["authorization"]');
    expect(server.seen).toEqual([]);
  });

  it('a watch emits each line and completes with the stream', async () => {
    server.answer = ({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.write(event('a'));
      stream.end(event('b'));
    };
    const watch = watching(stage.client({ server: server.url }), '/w');
    await eventually('it is complete', () => watch.came.at(-1) === 'complete');
    expect(watch.came.map((one) => (typeof one === 'object' && 'kind' in one ? one.kind : one))).toEqual([
      ...['opened', 'event', 'event', 'complete'],
    ]);
  });
});

describe('the version of HTTP', () => {
  it('is HTTP/1.1 with servers that have nothing else', async () => {
    const old = await stage.serve();
    const api = stage.client({ server: old.url });
    await Promise.all([lastValueFrom(api.request(GET)), lastValueFrom(api.request(PUT))]);
    await lastValueFrom(api.request(GET));
    expect(old.seen.map(({ headers }) => headers.host)).toEqual(
      Array.from({ length: 3 }, () => `127.0.0.1:${old.port}`),
    );
    // The connection that has shown the version is used.
    expect(new Set(old.seen.map(({ connection }) => connection))).toEqual(new Set([1, 2]));
  });

  it('is HTTP/1.1 if DISABLE_HTTP2 is set', async () => {
    const api = stage.client({ server: server.url }, { env: { DISABLE_HTTP2: 'true' } });
    // The server of the test has nothing but HTTP/2.
    await errorOf(lastValueFrom(api.request(GET)));
    expect(server.seen).toEqual([]);
    const enabled = stage.client({ server: server.url }, { env: { DISABLE_HTTP2: '' } });
    expect(await lastValueFrom(enabled.request(GET))).toEqual({ kind: 'Ok' });
  });

  it('is chosen behind a proxy, too', async () => {
    const asked: (string | undefined)[] = [];
    const proxy = createHttp();
    proxy.on('connect', ({ url }, socket: Socket) => {
      asked.push(url);
      const onward = connect(server.port, '127.0.0.1', () => {
        socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
        socket
          .on('error', () => undefined)
          .pipe(onward.on('error', () => undefined))
          .pipe(socket);
      });
    });
    proxy.listen(0, '127.0.0.1');
    await once(proxy, 'listening');
    stage.onEnd(() => proxy.close());
    const proxyUrl = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    const api = stage.client({ server: 'https://api.test:6443', proxyUrl });
    await Promise.all([GET, PUT, GET].map((request) => lastValueFrom(api.request(request))));
    expect(asked).toEqual(['api.test:6443']);
    expect(server.seen.map(({ headers }) => headers[':authority'])).toEqual([
      ...['api.test:6443', 'api.test:6443', 'api.test:6443'],
    ]);
  });

  it('is chosen again when the last connection with HTTP/1.1 is closed', async () => {
    const old = await stage.serve();
    let to = old.port;
    const front = await frontOf(() => to);
    const api = stage.client({ server: `https://127.0.0.1:${front}` });
    await lastValueFrom(api.request(GET));
    to = server.port;
    old.close();
    await eventually('the closed connection is not used', () =>
      lastValueFrom(api.request(GET)).then(
        () => true,
        () => false,
      ),
    );
    expect(server.seen.length).toBeGreaterThan(0);
    to = (await stage.serve()).port;
    for (const socket of server.sockets) socket.destroy();
    await eventually('HTTP/1.1 again', () =>
      lastValueFrom(api.request(PUT)).then(
        () => true,
        () => false,
      ),
    );
  });
});

/** A TCP relay whose target may change. */
const frontOf = async (port: () => number): Promise<number> => {
  const front = createServer((client) => {
    const target = connect(port(), '127.0.0.1');
    client.on('error', () => undefined).on('close', () => target.destroy());
    target.on('error', () => undefined).on('close', () => client.destroy());
    client.pipe(target).pipe(client);
  });
  front.listen(0, '127.0.0.1');
  await once(front, 'listening');
  stage.onEnd(() => front.close());
  return (front.address() as AddressInfo).port;
};

describe('unsubscribing', () => {
  it('resets the stream of the request or watch, and nothing else', async () => {
    const api = stage.client({ server: server.url });
    server.answer = answerWatches;
    const [kept, left] = ['/kept', '/left'].map((path) => watching(api, path));
    await eventually('they are open', () => isOpen(kept!) && isOpen(left!));
    server.answer = () => undefined;
    const request = api.request(PUT).subscribe();
    await eventually('the request is there', () => server.seen.length === 3);
    left!.subscription.unsubscribe();
    request.unsubscribe();
    await eventually('both are reset', () => server.reset.length === 2);
    expect([...server.reset].sort()).toEqual(['GET /left?watch=true', 'PUT /api/v1/nodes/n']);
    server.seen.find(({ line }) => line.startsWith('GET /kept'))!.stream.write(event('a'));
    await eventually('the event is there', () => eventsOf(kept!) === 1);
    expect(server.opened()).toBe(1);
  });

  it('before the connection is made sends nothing', async () => {
    const api = stage.client({ server: server.url });
    api.request(PUT).subscribe().unsubscribe();
    const later = api.request(PUT).subscribe();
    const kept = lastValueFrom(api.request(GET));
    later.unsubscribe();
    await kept;
    expect(server.seen.map(({ line }) => line)).toEqual(['GET /api/v1/nodes/n']);
  });

  it('from a reply that is not read leaves the others their windows', async () => {
    const api = stage.client({ server: server.url }, { maxReplyBytes: 2 ** 20 });
    server.answer = ({ line, stream }) => {
      stream.respond({ ':status': 200 });
      if (line.endsWith('/large')) stream.end(Buffer.alloc(8 * 2 ** 20));
      else stream.end('{}');
    };
    for (let round = 0; round < 3; round++) {
      const error = await errorOf(lastValueFrom(api.request({ method: 'GET', path: '/large' })));
      expect(error.message).toBe('GET /large: the reply is longer than 1 MiB');
    }
    expect(await lastValueFrom(api.request(GET))).toEqual({});
    expect(server.opened()).toBe(1);
  });
});

describe('large replies', () => {
  it('are read whole, with any window, while others have their turn', async () => {
    const api = stage.client({ server: server.url });
    const items = Array.from({ length: 4_000 }, (_, index) => ({
      metadata: { name: `pod-${index}` },
      text: 'x'.repeat(5_000),
    }));
    server.answer = (seen) => {
      if (seen.line.endsWith('/pods')) json2(seen.stream, 200, { kind: 'List', items });
      else answerWatches(seen);
    };
    const watch = watching(api, '/w');
    const list = lastValueFrom(api.request({ method: 'GET', path: '/api/v1/pods' }));
    const small = await Promise.all(Array.from({ length: 20 }, () => lastValueFrom(api.request(GET))));
    expect(small).toHaveLength(20);
    expect(await list).toEqual({ kind: 'List', items });
    expect(watch.came).toEqual([{ kind: 'opened' }]);
    expect(server.opened()).toBe(1);
  });

  it('a line of a watch that is longer than its limit is an error of this watch', async () => {
    const api = stage.client({ server: server.url }, { maxEventLength: 2 ** 20 });
    server.answer = answerWatches;
    const other = watching(api, '/other');
    await eventually('it is open', () => isOpen(other));
    server.answer = ({ stream }) => {
      stream.respond({ ':status': 200 });
      stream.write('x'.repeat(3 * 2 ** 20));
    };
    const watch = watching(api, '/w');
    await eventually('it fails', () => watch.came.length === 2);
    expect(watch.came[1]).toMatchObject({ code: 500, message: 'watch of /w: a line is longer than 1 MiB' });
    await eventually('it is reset', () => server.reset.includes('GET /w?watch=true'));
    server.seen[0]!.stream.write(event('a'));
    await eventually('the other goes on', () => eventsOf(other) === 1);
  });

  it('headers beyond 16 KiB are an error of their request', async () => {
    const api = stage.client({ server: server.url });
    server.answer = answerWatches;
    const other = watching(api, '/other');
    await eventually('it is open', () => isOpen(other));
    server.answer = ({ stream }) => {
      const long = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`x-${index}`, 'y'.repeat(1_000)]));
      stream.respond({ ':status': 200, ...long });
      stream.end('{}');
    };
    expect((await errorOf(lastValueFrom(api.request(PUT)))).code).toBe(undefined);
    server.answer = answerWatches;
    expect(await lastValueFrom(api.request(PUT))).toEqual({ kind: 'Ok' });
    server.seen[0]!.stream.write(event('a'));
    await eventually('the other goes on', () => eventsOf(other) === 1);
    expect(server.opened()).toBe(1);
  });
});
