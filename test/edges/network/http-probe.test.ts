import { createServer, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HttpGetAction } from '../../../src/model/pod/pod.js';
import { ProbeErrored } from '../../../src/model/probes/probe-errored.js';
import type { ProbeOutcome } from '../../../src/model/probes/probe-outcome.js';
import { type LocalServers, localServers, selfSigned } from './local-servers.js';
import { probeOnce, SHORT } from './probing.js';

let servers: LocalServers;
beforeEach(() => {
  servers = localServers();
});
afterEach(() => servers.close());

const get = (
  port: number | string,
  action: Partial<HttpGetAction> = {},
  timeoutSeconds?: number,
): Promise<ProbeOutcome> => probeOnce({ httpGet: { port, ...action } }, timeoutSeconds);
const serve = (handle: RequestListener): Promise<number> => servers.listen(createServer(handle));
/** A server that answers the first bytes of a connection with `text`, then does with it as `then` says. */
const say = (text: string, then: (socket: Socket) => void = () => undefined): Promise<number> =>
  servers.serve((socket) => socket.once('data', () => socket.write(text, () => then(socket))));

describe('an HTTP probe', () => {
  it('names itself, takes anything and is content with a success', async () => {
    const seen: (readonly string[])[] = [];
    const port = await serve(({ rawHeaders }, response) => {
      seen.push(rawHeaders);
      response.end('fine');
    });
    const httpHeaders = [{ name: 'x-token', value: 'a' }];
    expect(await get(port, { httpHeaders })).toEqual({ result: 'success', output: 'fine' });
    expect(seen).toEqual([
      [
        ...['Host', `127.0.0.1:${port}`, 'User-Agent', 'kube-probe/1.37', 'Accept', '*/*'],
        ...['X-Token', 'a', 'Connection', 'close'],
      ],
    ]);
    await servers.deserted();
  });

  it('takes a connection of its own each time', async () => {
    const port = await serve((_, response) => response.end());
    for (let i = 0; i < 3; i++) expect(await get(port)).toMatchObject({ result: 'success' });
    expect(servers.taken()).toBe(3);
    await servers.deserted();
  });

  it.each([
    [200, 'success', 'secret'],
    [299, 'success', 'secret'],
    [304, 'warning', 'Probe terminated redirects, Response body: '],
    [399, 'warning', 'Probe terminated redirects, Response body: secret'],
    [400, 'failure', 'HTTP probe failed with statuscode: 400'],
    [503, 'failure', 'HTTP probe failed with statuscode: 503'],
  ])('calls status %i a %s', async (status, result, output) => {
    const port = await serve((_, response) => response.writeHead(status).end('secret'));
    expect(await get(port)).toEqual({ result, output });
  });

  it('waits for a slow answer as long as it may', async () => {
    const port = await serve((_, response) => {
      response.writeHead(200);
      response.write('sl');
      setImmediate(() => response.end('ow'));
    });
    expect(await get(port)).toEqual({ result: 'success', output: 'slow' });
  });

  it('asks a server of HTTP/1.0, whose end of the connection is the end of the body', async () => {
    const port = await say('HTTP/1.0 200 OK\r\n\r\nold', (socket) => socket.end());
    expect(await get(port)).toEqual({ result: 'success', output: 'old' });
    await servers.deserted();
  });

  it('asks a server that ends its lines in its own way', async () => {
    const port = await say('HTTP/1.1 200 OK\nContent-Length: 2\n\nok');
    expect(await get(port)).toEqual({ result: 'success', output: 'ok' });
  });

  it('asks over TLS without checking the certificate', async () => {
    const port = await servers.listen(createTlsServer(selfSigned(), (_, response) => response.end('secret')));
    expect(await get(port, { scheme: 'HTTPS' })).toEqual({ result: 'success', output: 'secret' });
    await servers.deserted();
  });

  it('reads 10 KiB of an answer that does not end', async () => {
    const port = await serve((_, response) => {
      const write = (): void => void (response.write('x'.repeat(65_536)) && setImmediate(write));
      response.on('drain', write);
      write();
    });
    expect(await get(port)).toEqual({ result: 'success', output: 'x'.repeat(10_240) });
    await servers.deserted();
  });

  it('takes headers of some length', async () => {
    const port = await say(`HTTP/1.1 200 OK\r\nX-Long: ${'x'.repeat(100_000)}\r\nContent-Length: 2\r\n\r\nok`);
    expect(await get(port)).toEqual({ result: 'success', output: 'ok' });
  });
});

describe('a redirect', () => {
  it('is followed within the host', async () => {
    const port = await serve(({ url }, response) =>
      url === '/' ? response.writeHead(302, { location: '/next' }).end() : response.end('there'),
    );
    expect(await get(port)).toEqual({ result: 'success', output: 'there' });
    await servers.deserted();
  });

  it('to another host is a warning', async () => {
    const port = await serve((_, response) =>
      response.writeHead(302, { location: `http://localhost:${port}/` }).end('moved'),
    );
    expect(await get(port)).toEqual({
      result: 'warning',
      output: 'Probe terminated redirects, Response body: moved',
    });
    expect(servers.taken()).toBe(1);
  });

  it('too many times is a failure', async () => {
    const port = await serve((_, response) => response.writeHead(302, { location: '/' }).end());
    expect(await get(port)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": stopped after 10 redirects`,
    });
    await servers.deserted();
  });

  it('that goes on for too long is a failure like any other', async () => {
    const port = await serve(({ url }, response) => {
      if (url === '/') response.writeHead(302, { location: '/next' }).end();
    });
    expect(await get(port, {}, SHORT.seconds)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
    await servers.deserted();
  });
});

describe('a failure', () => {
  it('is a server that takes the connection and is silent', async () => {
    const port = await servers.serve(() => undefined);
    const output = (scheme: string) =>
      `Get "${scheme}://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`;
    expect(await get(port, {}, SHORT.seconds)).toEqual({ result: 'failure', output: output('http') });
    expect(await get(port, { scheme: 'HTTPS' }, SHORT.seconds)).toEqual({ result: 'failure', output: output('https') });
    await servers.deserted();
  });

  it('is a server that resets the connection', async () => {
    const port = await servers.serve((socket) => socket.once('data', () => socket.resetAndDestroy()));
    expect(await get(port)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": read: connection reset by peer`,
    });
  });

  it('is a port without a listener', async () => {
    const port = await servers.closedPort();
    expect(await get(port)).toEqual({
      result: 'failure',
      output: `Get "http://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it('is TLS where there is none', async () => {
    const port = await serve((_, response) => response.end());
    expect(await get(port, { scheme: 'HTTPS' })).toEqual({
      result: 'failure',
      output: `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
    });
  });

  it('is a server that changes the protocol unasked', async () => {
    const port = await say('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n');
    expect(await get(port)).toEqual({ result: 'failure', output: 'HTTP probe failed with statuscode: 101' });
    await servers.deserted();
  });
});

describe('an error, which says nothing of the container', () => {
  it('is a body that breaks off', async () => {
    const port = await say('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', (socket) => socket.destroy());
    await expect(get(port)).rejects.toMatchObject({
      name: 'ProbeErrored',
      state: 'failure',
      message: 'unexpected EOF',
    });
  });

  it('is a body that is late', async () => {
    const port = await say('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf');
    const late = async (seconds: number): Promise<unknown> => {
      const outcome = await get(port, {}, seconds).catch((error: unknown) => error);
      // A machine that is busy takes longer for the headers already.
      return outcome instanceof ProbeErrored || seconds > 60 ? outcome : late(seconds * 4);
    };
    expect(await late(SHORT.seconds)).toMatchObject({
      state: 'failure',
      message: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    });
    await servers.deserted();
  });

  it('is a port that the container does not have', async () => {
    await expect(get('web')).rejects.toThrow('the container has no port named "web"');
  });
});
