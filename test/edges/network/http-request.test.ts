import { spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server as TcpServer,
  type Socket,
} from 'node:net';
import { once } from 'node:events';
import { firstValueFrom } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { HttpFailure } from '../../../src/model/config/http-failure.js';
import type { HttpGetAnswer, HttpGetRequest } from '../../../src/model/config/http-get.js';
import type { HttpRequestLimits } from '../../../src/network/http-exchange.js';
import { httpRequest } from '../../../src/network/http-request.js';
import { eventually } from '../../embedded/eventually.js';
import { selfSigned } from './local-servers.js';

const opened: (Server | TcpServer)[] = [];
const connections = new Set<Socket>();
afterEach(() => {
  for (const connection of connections) connection.destroy();
  for (const server of opened.splice(0)) server.close();
});

const listening = async (server: Server | TcpServer): Promise<number> => {
  opened.push(server);
  server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};
const serve = (handle: RequestListener): Promise<number> => listening(createServer(handle));
const serveTcp = (handle: (socket: Socket) => void): Promise<number> =>
  listening(
    createTcpServer((socket) => {
      socket.on('error', () => undefined);
      handle(socket);
    }),
  );

const to = (port: number, rest: Partial<HttpGetRequest> = {}): HttpGetRequest => ({
  ...{ scheme: 'http', host: '127.0.0.1', port, target: '/' },
  headers: [['Host', `127.0.0.1:${port}`]],
  ...rest,
});
interface Options {
  readonly timeoutMs?: number;
  readonly maxBodyBytes?: number;
  readonly limits?: HttpRequestLimits;
}
const get = (request: HttpGetRequest, { limits, ...options }: Options = {}): Promise<HttpGetAnswer> =>
  firstValueFrom(httpRequest(limits)(request, { maxBodyBytes: 10_240, ...options }));
const failure = async (request: HttpGetRequest, options: Options = {}): Promise<HttpFailure> => {
  const answer = await get(request, options).catch((error: unknown) => error);
  if (answer instanceof HttpFailure) return answer;
  throw new Error(`no failure, but ${JSON.stringify(answer)}`);
};

describe('a request', () => {
  it('asks for what it says, with its headers as they are, over a connection of its own', async () => {
    const seen: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders'>[] = [];
    const port = await serve(({ method, url, rawHeaders }, response) => {
      seen.push({ method, url, rawHeaders });
      response.end('hello');
    });
    const headers = [
      ['Host', 'web.test'],
      ['X-One', '1'],
      ['X-One', '2'],
    ] as const;
    expect(await get(to(port, { target: '/a%20b?c=d', headers }))).toEqual({ status: 200, body: 'hello' });
    expect(seen).toEqual([
      { method: 'GET', url: '/a%20b?c=d', rawHeaders: [...headers.flat(), 'Connection', 'close'] },
    ]);
  });

  it.each([204, 404, 500, 302])('passes status %i on as an answer', async (status) => {
    const port = await serve((_, response) => response.writeHead(status).end());
    expect(await get(to(port))).toEqual({ status, body: '' });
  });

  it('reads no more of a body than is wanted', async () => {
    const port = await serve((_, response) => {
      // It never ends.
      const write = (): void => void (response.write('x'.repeat(65_536)) && setImmediate(write));
      response.on('drain', write);
      write();
    });
    expect(await get(to(port), { maxBodyBytes: 10 })).toEqual({ status: 200, body: 'xxxxxxxxxx' });
    await eventually('the connection is closed', () => connections.size === 0);
  });

  it('is aborted when its subscriber unsubscribes', async () => {
    const port = await serve(() => undefined);
    const subscription = httpRequest()(to(port), { maxBodyBytes: 1 }).subscribe();
    await eventually('the server has it', () => connections.size === 1);
    subscription.unsubscribe();
    await eventually('the connection is closed', () => connections.size === 0);
  });
});

describe('a server with a certificate', () => {
  it('is asked without a check of the certificate', async () => {
    const port = await listening(createTlsServer(selfSigned(), (_, response) => response.end('secret')));
    expect(await get(to(port, { scheme: 'https' }))).toEqual({ status: 200, body: 'secret' });
  });

  it('receives the name of the URL, not that of the header', async () => {
    const names: unknown[] = [];
    const server = createTlsServer(selfSigned(), (_, response) => response.end());
    server.on('secureConnection', ({ servername }) => names.push(servername));
    const port = await listening(server);
    const headers = [['Host', 'web.test']] as const;
    await get(to(port, { scheme: 'https', headers }));
    await get(to(port, { scheme: 'https', host: 'localhost', headers }));
    expect(names).toEqual([false, 'localhost']);
  });
});

describe('a redirect', () => {
  it('is followed within the host, also to another port', async () => {
    const asked: string[] = [];
    const note = ({ headers, url }: IncomingMessage) =>
      asked.push(`${headers.host} ${url} ${String(headers['x-one'])}`);
    const last = await serve((request, response) => {
      note(request);
      response.end('there');
    });
    const port = await serve((request, response) => {
      note(request);
      const location = request.url === '/' ? '/next?a=b' : `http://127.0.0.1:${last}/last`;
      response.writeHead(302, { location }).end();
    });
    const headers = [
      ['Host', 'web.test'],
      ['X-One', '1'],
    ] as const;
    expect(await get(to(port, { headers }))).toEqual({ status: 200, body: 'there' });
    expect(asked).toEqual(['web.test / 1', 'web.test /next?a=b 1', `127.0.0.1:${last} /last 1`]);
  });

  it('to another host is the answer', async () => {
    const port = await serve((_, response) =>
      response.writeHead(301, { location: 'http://localhost:1/' }).end('moved'),
    );
    expect(await get(to(port))).toEqual({ status: 301, body: 'moved' });
  });

  it('is followed nine times and no more', async () => {
    let asked = 0;
    const port = await serve((_, response) => response.writeHead(307, { location: `/${++asked}` }).end());
    expect(await failure(to(port))).toMatchObject({
      stage: 'request',
      message: `Get "http://127.0.0.1:${port}/": stopped after 10 redirects`,
    });
    expect(asked).toBe(10);
  });
});

describe('a failure says what went wrong', () => {
  it('without a listener', async () => {
    const port = await serve(() => undefined);
    opened[0]?.close();
    expect(await failure(to(port))).toMatchObject({
      stage: 'request',
      message: `Get "http://127.0.0.1:${port}/": dial tcp 127.0.0.1:${port}: connect: connection refused`,
    });
  });

  it('when the server hangs up', async () => {
    const port = await serveTcp((socket) => socket.on('data', () => socket.destroy()));
    expect(await failure(to(port))).toMatchObject({
      stage: 'request',
      message: `Get "http://127.0.0.1:${port}/": EOF`,
      options: { isPlainHttp: false },
    });
  });

  it('when the server hangs up in the middle of the body', async () => {
    const port = await serve((_, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('half', () => response.destroy());
    });
    expect(await failure(to(port))).toMatchObject({ stage: 'body', message: 'unexpected EOF' });
  });

  it('when it does not speak HTTP', async () => {
    const port = await serveTcp((socket) => socket.end('220 mail.test ESMTP\r\n'));
    expect((await failure(to(port))).message).toContain('malformed HTTP response');
  });

  it('when it speaks HTTP where TLS is expected', async () => {
    const port = await serve((_, response) => response.end());
    expect(await failure(to(port, { scheme: 'https' }))).toMatchObject({
      stage: 'request',
      message: `Get "https://127.0.0.1:${port}/": http: server gave HTTP response to HTTPS client`,
      options: { isPlainHttp: true },
    });
  });

  it('when a header cannot be sent', async () => {
    const headers = [
      ['Host', 'web.test'],
      ['X-One', 'a\nb'],
    ] as const;
    expect((await failure(to(1, { headers }))).message).toContain('X-One');
  });

  it('when no headers come in time', async () => {
    const port = await serve(() => undefined);
    expect(await failure(to(port), { timeoutMs: 50 })).toMatchObject({
      stage: 'request',
      message: `Get "http://127.0.0.1:${port}/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`,
    });
    await eventually('the connection is closed', () => connections.size === 0);
  });

  it('when the body does not come in time', async () => {
    const port = await serve((_, response) => void response.write('a'));
    const late = async (timeoutMs: number): Promise<HttpFailure> => {
      const outcome = await failure(to(port), { timeoutMs });
      // A machine that is busy takes longer for the headers already.
      return outcome.stage === 'body' || timeoutMs > 60_000 ? outcome : late(timeoutMs * 4);
    };
    expect(await late(50)).toMatchObject({
      stage: 'body',
      message: 'context deadline exceeded (Client.Timeout or context cancellation while reading body)',
    });
  });

  it('when no connection comes about', async () => {
    const script =
      "require('net').createServer().listen({ port: 0, host: '127.0.0.1', backlog: 1 }, function () { console.log(this.address().port) })";
    const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const waiting: Socket[] = [];
    try {
      const [line] = (await once(child.stdout, 'data')) as [Buffer];
      const port = Number(line.toString());
      // No process accepts connections, and the kernel keeps only a few for later.
      child.kill('SIGSTOP');
      for (let i = 0; i < 8; i++) waiting.push(connect(port, '127.0.0.1').on('error', () => undefined));
      await eventually('no more are kept', () => waiting.filter(({ connecting }) => !connecting).length >= 2);
      expect(await failure(to(port), { limits: { dialMs: 20 } })).toMatchObject({
        stage: 'request',
        message: `Get "http://127.0.0.1:${port}/": dial tcp: i/o timeout`,
      });
    } finally {
      for (const socket of waiting) socket.destroy();
      child.kill('SIGKILL');
    }
  });

  it('when nothing comes of the TLS handshake', async () => {
    const port = await serveTcp((socket) => socket.resume());
    expect(await failure(to(port, { scheme: 'https' }), { limits: { tlsHandshakeMs: 20 } })).toMatchObject({
      stage: 'request',
      message: `Get "https://127.0.0.1:${port}/": net/http: TLS handshake timeout`,
    });
    await eventually('the connection is closed', () => connections.size === 0);
  });
});
