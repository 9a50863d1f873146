import { createServer as createHttpServer } from 'node:http';
import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2';
import { createServer as createTlsServer } from 'node:https';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpGetAction } from '../../../src/model/pod/pod.js';
import { ProbeErrored } from '../../../src/model/probes/probe-errored.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import { eventually } from '../../embedded/eventually.js';
import { type LocalServers, localServers, selfSigned } from './local-servers.js';
import { probeOnce, SHORT } from './probing.js';

let servers: LocalServers;
beforeEach(() => {
  servers = localServers();
});
afterEach(() => servers.close());

/** A server that speaks HTTP/2 without TLS, and nothing else. */
const serve = (handle: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void): Promise<number> => {
  const server = createServer();
  server.on('stream', (stream, headers) => {
    stream.on('error', () => undefined);
    handle(stream, headers);
  });
  server.on('sessionError', () => undefined);
  return servers.listen(server);
};
const reply = (stream: ServerHttp2Stream, status: number, body: string, more: object = {}): void => {
  stream.respond({ ':status': status, ...more });
  stream.end(body);
};
const get = (
  port: number,
  action: Partial<HttpGetAction> = {},
  { seconds, http2 = true }: { readonly seconds?: number; readonly http2?: boolean } = {},
): Promise<ProbeOutcome> =>
  probeOnce({ httpGet: { port, protocol: 'HTTP2', ...action } }, seconds, undefined, { http2 });

describe('an HTTP probe with protocol HTTP2', () => {
  it('names itself to a server that speaks only HTTP/2 over TCP, over a connection of its own', async () => {
    const seen: IncomingHttpHeaders[] = [];
    const port = await serve((stream, headers) => {
      seen.push(Object.fromEntries(Object.entries(headers)));
      reply(stream, 200, 'fine');
    });
    const httpHeaders = [
      { name: 'X-Token', value: 'a' },
      { name: 'X-Token', value: 'b' },
      { name: 'Connection', value: 'close' },
      { name: 'TE', value: 'gzip' },
    ];
    const fine = { result: 'success', output: 'fine' };
    expect(await get(port, { path: '/up?a=b', httpHeaders })).toEqual(fine);
    expect(await get(port, { httpHeaders: [{ name: 'Host', value: 'shop.test' }] })).toEqual(fine);
    const all = { ':method': 'GET', ':scheme': 'http', 'user-agent': 'kube-probe/1.37', accept: '*/*' };
    expect(seen).toEqual([
      { ...all, ':path': '/up?a=b', ':authority': `127.0.0.1:${port}`, 'x-token': 'a, b' },
      { ...all, ':path': '/', ':authority': 'shop.test' },
    ]);
    expect(servers.taken()).toBe(2);
    await servers.deserted();
  });

  it.each([
    [200, 'success', 'secret'],
    [304, 'warning', 'Probe terminated redirects, Response body: '],
    [399, 'warning', 'Probe terminated redirects, Response body: secret'],
    [400, 'failure', 'HTTP probe failed with statuscode: 400'],
    [503, 'failure', 'HTTP probe failed with statuscode: 503'],
  ])('calls status %i a %s', async (status, result, output) => {
    const port = await serve((stream) => reply(stream, status, status === 304 ? '' : 'secret'));
    expect(await get(port)).toEqual({ result, output });
    await servers.deserted();
  });

  it.each([
    ['no protocol and the gate', { protocol: undefined }, true],
    ['protocol HTTP1 and the gate', { protocol: 'HTTP1' }, true],
    ['protocol HTTP2 without the gate', { protocol: 'HTTP2' }, false],
  ] as const)('is HTTP/1.1 with %s', async (_, action, http2) => {
    const versions: string[] = [];
    const port = await servers.listen(
      createHttpServer(({ httpVersion }, response) => {
        versions.push(httpVersion);
        response.end('old');
      }),
    );
    expect(await get(port, action, { http2 })).toEqual({ result: 'success', output: 'old' });
    expect(versions).toEqual(['1.1']);
    const only2 = await serve((stream) => reply(stream, 200, ''));
    expect(await get(only2, action, { http2 })).toMatchObject({ result: 'failure' });
    await servers.deserted();
  });

  it('fails at a server that speaks only HTTP/1.1', async () => {
    const port = await servers.listen(createHttpServer((_, response) => response.end('old')));
    const { result, output } = await get(port);
    expect(result).toBe('failure');
    expect(output).toMatch(new RegExp(`^Get "http://127.0.0.1:${port}/": .`));
    await servers.deserted();
  });

  it('follows redirects on the same host, by HTTP/2 and with the headers, and over TLS by HTTP/1.1', async () => {
    const paths: unknown[] = [];
    const tls = await servers.listen(
      createTlsServer(selfSigned(), ({ httpVersion }, response) => response.end(`over TLS by ${httpVersion}`)),
    );
    const port = await serve((stream, headers) => {
      paths.push([headers[':path'], headers['x-token']]);
      const location = { '/': '/next', '/tls': `https://127.0.0.1:${tls}/`, '/away': 'http://shop.test/' }[
        headers[':path'] ?? ''
      ];
      if (location === undefined) reply(stream, 200, 'there');
      else reply(stream, 302, 'moved', { location });
    });
    const httpHeaders = [{ name: 'X-Token', value: 'a' }];
    expect(await get(port, { httpHeaders })).toEqual({ result: 'success', output: 'there' });
    expect(paths).toEqual([
      ['/', 'a'],
      ['/next', 'a'],
    ]);
    expect(await get(port, { path: '/tls' })).toEqual({ result: 'success', output: 'over TLS by 1.1' });
    expect(await get(port, { path: '/away' })).toEqual({
      result: 'warning',
      output: 'Probe terminated redirects, Response body: moved',
    });
    await servers.deserted();
  });

  it('gives up redirects in a circle', async () => {
    const port = await serve((stream) => reply(stream, 302, '', { location: '/' }));
    expect(await get(port)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": stopped after 10 redirects`,
    });
    expect(servers.taken()).toBe(10);
    await servers.deserted();
  });

  it('reads 10 KiB of a body without an end', async () => {
    const port = await serve((stream) => {
      stream.respond({ ':status': 200 });
      const write = (): void => {
        if (!stream.destroyed) stream.write('x'.repeat(4096), write);
      };
      write();
    });
    const { result, output } = await get(port);
    expect([result, output.length]).toEqual(['success', 10_240]);
    await servers.deserted();
  });

  it('takes hundreds of headers, and information before the answer', async () => {
    const port = await serve((stream) => {
      stream.additionalHeaders({ ':status': 103, link: '<a>' });
      reply(stream, 200, 'fine', Object.fromEntries(range(500).map((index) => [`x-${index}`, 'v'.repeat(100)])));
    });
    expect(await get(port)).toEqual({ result: 'success', output: 'fine' });
    await servers.deserted();
  });

  it('fails without an answer in time', async () => {
    const asked: unknown[] = [];
    const port = await serve((_, headers) => asked.push(headers[':path']));
    expect(await get(port, {}, { seconds: SHORT.seconds })).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
    await servers.deserted();
  });

  it('fails where no server listens', async () => {
    const port = await servers.closedPort();
    expect(await get(port)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it.each<[string, (stream: ServerHttp2Stream) => void, string]>([
    ['resets the request', (stream) => stream.close(8), 'stream error: stream ID 1; CANCEL; received from peer'],
    ['breaks the connection', () => servers.hangUp(), 'EOF'],
  ])('fails at a server that %s', async (_, handle, output) => {
    const port = await serve(handle);
    expect(await get(port)).toEqual({ result: 'failure', output: `Get "http://127.0.0.1:${port}/": ${output}` });
    await servers.deserted();
  });

  it.each<[string, (stream: ServerHttp2Stream) => void]>([
    ['is cut by a reset', (stream) => stream.destroy(new Error('broken'))],
    ['is cut by the end of the connection', () => servers.hangUp()],
  ])('has no result if the body %s', async (_, cut) => {
    const port = await serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('half', () => setImmediate(() => cut(stream)));
    });
    const error: unknown = await get(port).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ProbeErrored);
    expect(error).toMatchObject({ state: 'failure', message: 'unexpected EOF' });
    await servers.deserted();
  });

  it('has no result if the body is late', async () => {
    let written = false;
    const port = await serve((stream) => {
      stream.respond({ ':status': 200 });
      stream.write('half', () => (written = true));
    });
    const outcome = get(port, {}, { seconds: 1 }).catch((thrown: unknown) => thrown);
    await eventually('half of it is sent', () => written);
    expect(await outcome).toMatchObject({
      state: 'failure',
      message: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    });
    await servers.deserted();
  });
});

const range = (count: number): readonly number[] => Array.from({ length: count }, (_, index) => index);
