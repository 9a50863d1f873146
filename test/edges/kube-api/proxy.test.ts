import { once } from 'node:events';
import { createServer as createHttp } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { lastValueFrom } from 'rxjs';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { apiStage, type TestServer } from './api-stage.js';

const stage = apiStage();
afterAll(stage.end);

let server: TestServer;
beforeEach(async () => {
  server = await stage.serve();
});

const GET = { method: 'GET', path: '/p' } as const;

const listen = async (proxy: Server): Promise<number> => {
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  stage.onEnd(() => proxy.close());
  return (proxy.address() as AddressInfo).port;
};

const join = (one: Socket, other: Socket): void => {
  one.on('error', () => other.destroy()).on('close', () => other.destroy());
  other.on('error', () => one.destroy()).on('close', () => one.destroy());
  one.pipe(other).pipe(one);
};

/** A proxy that tunnels all requests to the server of the test, whose name it alone knows. */
const connectProxy = async (asked: string[]): Promise<number> => {
  const proxy = createHttp((_, response) => void response.writeHead(400).end());
  proxy.on('connect', ({ url, headers }, socket: Socket) => {
    asked.push(`${url} ${headers['proxy-authorization'] ?? ''}`.trim());
    if (url?.startsWith('forbidden')) return void socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
    const onward = connect(server.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      join(socket, onward);
    });
  });
  return listen(proxy);
};

describe('through a proxy', () => {
  it('goes a tunnel, and one for many requests; the server proves itself all the same', async () => {
    const asked: string[] = [];
    const port = await connectProxy(asked);
    const api = stage.client({ server: 'https://api.test:6443', proxyUrl: `http://us%3Aer:pass@127.0.0.1:${port}` });
    await lastValueFrom(api.request(GET));
    await lastValueFrom(api.request({ method: 'POST', path: '/q', body: {} }));
    expect(asked).toEqual([`api.test:6443 Basic ${Buffer.from('us:er:pass').toString('base64')}`]);
    expect(server.seen.map(({ line, headers }) => `${line} ${headers.host}`)).toEqual([
      'GET /p api.test:6443',
      'POST /q api.test:6443',
    ]);
    const stranger = stage.client({ server: 'https://stranger:6443', proxyUrl: `http://127.0.0.1:${port}` });
    await expect(lastValueFrom(stranger.request(GET))).rejects.toMatchObject({
      cause: { code: 'ERR_TLS_CERT_ALTNAME_INVALID' },
    });
  });

  it('goes what the environment says', async () => {
    const asked: string[] = [];
    const env = { HTTPS_PROXY: `http://127.0.0.1:${await connectProxy(asked)}` };
    await lastValueFrom(stage.client({ server: 'https://api.test:6443' }, { env }).request(GET));
    expect(asked).toEqual(['api.test:6443']);
  });

  it('that refuses fails, without its password', async () => {
    const port = await connectProxy([]);
    const proxyUrl = `http://user:hidden@127.0.0.1:${port}`;
    const api = stage.client({ server: 'https://forbidden:1', proxyUrl });
    await expect(lastValueFrom(api.request(GET))).rejects.toMatchObject({
      ...{ code: undefined, message: `GET /p: proxy http://127.0.0.1:${port}: 403 Forbidden` },
    });
  });

  it('that does not answer is given up', async () => {
    const port = await listen(createServer((socket) => void socket.on('error', () => undefined).resume()));
    const api = stage.client({ server: 'https://api.test', proxyUrl: `http://127.0.0.1:${port}` }, { dialMs: 50 });
    await expect(lastValueFrom(api.request(GET))).rejects.toMatchObject({
      message: `GET /p: proxy http://127.0.0.1:${port}: no connection after 0.05 s`,
    });
  });

  it('plain HTTP goes as well', async () => {
    server = await stage.serve(undefined, false);
    const asked: string[] = [];
    const proxyUrl = `http://127.0.0.1:${await connectProxy(asked)}`;
    await lastValueFrom(stage.client({ server: 'http://api.test:8080', proxyUrl }).request(GET));
    expect(asked).toEqual(['api.test:8080']);
  });
});

describe('through SOCKS', () => {
  /** Speaks the protocol byte by byte; what it was asked, in hexadecimal. */
  const socksProxy = async (asked: string[], reply = 0, method = 0): Promise<number> =>
    listen(
      createServer((socket) => {
        let stepsLeft = method === 2 ? 3 : 2;
        socket.on('error', () => undefined);
        socket.on('data', function onData(chunk: Buffer) {
          asked.push(chunk.toString('hex'));
          stepsLeft -= 1;
          if (chunk[0] === 1) return void socket.write(Buffer.from([1, 0]));
          if (stepsLeft > 0) return void socket.write(Buffer.from([5, method]));
          const answer = Buffer.from([5, reply, 0, 1, 0, 0, 0, 0, 0, 0]);
          if (reply !== 0) return void socket.write(answer);
          socket.off('data', onData).pause();
          const onward = connect(server.port, '127.0.0.1', () => {
            // In parts, since no standard promises otherwise.
            socket.write(answer.subarray(0, 3));
            setImmediate(() => {
              socket.write(answer.subarray(3));
              join(socket, onward);
            });
          });
        });
      }),
    );
  const hex = (text: string): string => Buffer.from(text).toString('hex');

  it('goes a tunnel to a name', async () => {
    const asked: string[] = [];
    const proxyUrl = `socks5://127.0.0.1:${await socksProxy(asked)}`;
    await lastValueFrom(stage.client({ server: 'https://api.test:6443', proxyUrl }).request(GET));
    expect(asked).toEqual(['050100', `0501000308${hex('api.test')}192b`]);
  });

  it('goes a tunnel to an address, with a password', async () => {
    const asked: string[] = [];
    const proxyUrl = `socks5://a:bc@127.0.0.1:${await socksProxy(asked, 0, 2)}`;
    const api = stage.client({ server: 'https://10.1.2.3:443', proxyUrl, tlsServerName: 'api.test' });
    await lastValueFrom(api.request(GET));
    expect(asked).toEqual(['05020002', `0101${hex('a')}02${hex('bc')}`, '050100010a01020301bb']);
  });

  it('goes a tunnel to an IPv6 address', async () => {
    const asked: string[] = [];
    const proxyUrl = `socks5://127.0.0.1:${await socksProxy(asked)}`;
    await lastValueFrom(
      stage.client({ server: 'https://[fd00::1]:443', proxyUrl, tlsServerName: 'api.test' }).request(GET),
    );
    expect(asked).toEqual(['050100', '05010004fd00000000000000000000000000000101bb']);
  });

  it('is given up if the proxy does not answer', async () => {
    const port = await listen(createServer((socket) => void socket.on('error', () => undefined).resume()));
    const proxyUrl = `socks5://127.0.0.1:${port}`;
    const api = stage.client({ server: 'https://api.test', proxyUrl }, { dialMs: 50 });
    await expect(lastValueFrom(api.request(GET))).rejects.toMatchObject({
      message: `GET /p: proxy socks5://127.0.0.1:${port}: no connection after 0.05 s`,
    });
  });

  it('fails where it is refused', async () => {
    const port = await socksProxy([], 5);
    const api = stage.client({ server: 'https://api.test', proxyUrl: `socks5://127.0.0.1:${port}` });
    await expect(lastValueFrom(api.request(GET))).rejects.toMatchObject({
      message: `GET /p: proxy socks5://127.0.0.1:${port}: Socks5 proxy rejected connection - ConnectionRefused`,
    });
  });
});
