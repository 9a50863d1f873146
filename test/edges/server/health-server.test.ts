import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { filter, firstValueFrom, type Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import type { HealthChecks } from '../../../src/server/routes/health.js';
import { healthServer, type HealthServerOptions } from '../../../src/server/health-server.js';
import { eventually } from '../../embedded/eventually.js';

let running: Subscription | undefined;
afterEach(() => running?.unsubscribe());

const options: HealthServerOptions = { address: '127.0.0.1', port: 0, healthChecks: {}, names: [] };

const serve = (others: Partial<HealthServerOptions> = {}): Promise<string> =>
  new Promise((resolve, reject) => {
    running = healthServer({ ...options, ...others }).subscribe((event) =>
      event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem)),
    );
  });

const get = async (url: string, init: RequestInit = {}) => {
  const response = await fetch(url, init);
  return { status: response.status, type: response.headers.get('content-type'), body: await response.text() };
};

describe('/healthz', () => {
  const sick: HealthChecks = { syncloop: () => new Error('sync Loop took longer than expected') };
  const text = 'text/plain; charset=utf-8';

  it.each<[string, HealthChecks, number, string]>([
    ['', {}, 200, 'ok'],
    ['/', {}, 200, 'ok'],
    ['/ping', sick, 200, 'ok'],
    ['/log', sick, 200, 'ok'],
    ['/syncloop', { syncloop: () => undefined }, 200, 'ok'],
    ['/syncloop', sick, 500, 'internal server error: sync Loop took longer than expected\n'],
    ['', sick, 500, '[+]ping ok\n[+]log ok\n[-]syncloop failed: reason withheld\nhealthz check failed\n'],
    ['?verbose', { syncloop: () => undefined }, 200, '[+]ping ok\n[+]log ok\n[+]syncloop ok\nhealthz check passed\n'],
    ['?exclude=syncloop', sick, 200, 'ok'],
    [
      '?verbose&exclude=syncloop&exclude=nope',
      sick,
      200,
      '[+]ping ok\n[+]log ok\n[+]syncloop excluded: ok\nwarn: some health checks cannot be excluded: no matches for "nope"\nhealthz check passed\n',
    ],
    ['/nope', {}, 404, '404 page not found\n'],
  ])('%s with %o answers %i %j', async (path, healthChecks, status, body) => {
    const url = await serve({ healthChecks });
    expect(await get(`${url}/healthz${path}`)).toEqual({ status, type: text, body });
  });

  it('survives a check that throws', async () => {
    const url = await serve({
      healthChecks: {
        odd: () => {
          throw new Error('a bug');
        },
      },
    });
    expect((await get(`${url}/healthz`)).body).toBe('internal server error: a bug\n');
    expect((await get(`${url}/healthz/ping`)).status).toBe(200);
  });
});

describe('clients that hold on to connections', () => {
  const ALIVE = 'GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const opened: Socket[] = [];
  afterEach(() => opened.splice(0).forEach((socket) => socket.destroy()));

  /** Resolves when it is connected and has sent the text, and has been answered where that asks for something. */
  const hold = async (url: string, asks: string): Promise<Socket> => {
    const { hostname, port } = new URL(url);
    const socket = connect(Number(port), hostname);
    opened.push(socket);
    socket.on('error', () => undefined);
    await once(socket, 'connect');
    if (asks !== '') {
      socket.write(asks);
      await once(socket, 'data');
    }
    socket.resume();
    return socket;
  };

  it('gets no more of them than the agent can spare', async () => {
    const url = await serve();
    const held = await Promise.all(Array.from({ length: 150 }, () => hold(url, '')));
    await eventually('those beyond a hundred are closed', () => held.filter(({ closed }) => closed).length === 50);
  });

  it('and asks nothing makes room for others', async () => {
    const url = await serve();
    const held: Socket[] = [];
    for (let count = 0; count < 50; count += 1) held.push(await hold(url, ALIVE));
    expect(held.filter(({ closed }) => closed)).toEqual([]);
    expect((await get(`${url}/healthz`)).status).toBe(200);
    await eventually('they are closed', () => held.every(({ closed }) => closed));
  });

  it('cannot ask for ever on one', async () => {
    const url = await serve();
    const socket = await hold(url, '');
    socket.write(ALIVE.repeat(2_000));
    await eventually('it is closed', () => socket.closed);
  });
});

describe('anything else', () => {
  it('is not here: what pods and metrics say is not for every user of the machine', async () => {
    const url = await serve();
    for (const path of ['/pods', '/metrics', '/metrics/probes', '/livez', '/readyz', '/nowhere']) {
      expect((await get(url + path)).status).toBe(404);
    }
    // As a path of its own, with any method.
    expect((await get(`${url}/healthz;x`)).status).toBe(404);
    const wrong = await fetch(`${url}/healthz`, { method: 'DELETE' });
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    expect(await get(`${url}/healthz`, { method: 'HEAD' })).toMatchObject({ status: 200, body: '' });
  });
});

describe('a request', () => {
  /** The status of what is asked under a name. */
  const ask = (url: string, host: string, path = '/healthz') =>
    new Promise<number | undefined>((resolve, reject) => {
      const { hostname, port } = new URL(url);
      request({ hostname, port, path, headers: { host } }, (response) => {
        readText(response).then(() => resolve(response.statusCode), reject);
      })
        .on('error', reject)
        .end();
    });

  it.each([
    'localhost',
    'LocalHost.:99',
    '127.0.0.1',
    '127.0.0.9:80',
    '[::1]:80',
    'node-1',
    'NODE-1:10248',
    '10.1.2.3',
  ])('for %j is answered', async (host) => {
    expect(await ask(await serve({ names: ['node-1', '10.1.2.3', 'fd00::1'] }), host)).toBe(200);
  });

  it.each(['evil.example.com', 'evil.example.com:10248', '127.0.0.1.evil.com', 'localhost.evil.com', '10.9.9.9', '@'])(
    'for %j is refused: a page of the web may have had its name resolve to this machine',
    async (host) => {
      expect(await ask(await serve({ names: ['node-1'] }), host)).toBe(403);
    },
  );

  it('with the name of another in its first line is refused, too', async () => {
    const url = await serve();
    expect(await ask(url, 'localhost', 'http://evil.example.com/healthz')).toBe(403);
    expect(await ask(url, 'localhost', 'http://127.0.0.1/healthz')).toBe(200);
  });

  it('for the address at which it came in is answered', async () => {
    const url = await serve({ address: '0.0.0.0' });
    expect(await ask(url.replace('0.0.0.0', '127.0.0.1'), '127.0.0.1')).toBe(200);
  });
});

describe('the server', () => {
  it('frees its port when it is unsubscribed', async () => {
    const url = await serve();
    running?.unsubscribe();
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it('says that its port is taken', async () => {
    const squatter = createServer();
    await new Promise<void>((resolve) => squatter.listen(0, '127.0.0.1', resolve));
    const { port } = squatter.address() as AddressInfo;
    const event$ = healthServer({ ...options, port }).pipe(filter(({ kind }) => kind === 'failed'));
    expect(await firstValueFrom(event$)).toEqual({
      kind: 'failed',
      problem: `listen EADDRINUSE: address already in use 127.0.0.1:${port}`,
      retryInMs: 5000,
    });
    squatter.close();
  });
});
