import { createHook } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { Agent } from 'node:https';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Observable, Subscription } from 'rxjs';
import { afterEach, describe, expect, it } from 'vitest';
import { healthServer } from '../../../src/server/health-server.js';
import { listenOnce, type ServerEvent, urlOf } from '../../../src/server/listening/listen-while.js';
import { createMetrics } from '../../../src/server/metrics/metrics.js';
import { readOnlyServer } from '../../../src/server/read-only-server.js';
import { answerUpgrades, UpgradeResponse } from '../../../src/server/streaming/answer-upgrades.js';
import { eventually } from '../../embedded/eventually.js';
import { KubeletStage } from './kubelet-stage.js';

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const listening = async (server$: Observable<ServerEvent>): Promise<URL> => {
  let running: Subscription | undefined;
  const url = await new Promise<string>((resolve, reject) => {
    running = server$.subscribe((event) =>
      event.kind === 'listening' ? resolve(event.at) : reject(new Error(event.problem)),
    );
  });
  ends.push(() => running?.unsubscribe());
  return new URL(url);
};

/** A client that reads nothing. */
const client = async ({ hostname, port }: URL): Promise<Socket> => {
  const socket = connect(Number(port), hostname).on('error', () => undefined);
  ends.push(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
};

const tlsClient = async ({ hostname: host, port }: URL): Promise<Socket> => {
  const socket = connectTls({ host, port: Number(port), rejectUnauthorized: false }).on('error', () => undefined);
  ends.push(() => socket.destroy());
  await once(socket, 'secureConnect');
  return socket;
};

/** A server with little patience, which passes upgrades on, too. */
const impatient = (answer: RequestListener): Promise<URL> =>
  listening(
    listenOnce({
      answer,
      silentMs: 50,
      create: (limits, each) => {
        const server = createServer(limits, each);
        answerUpgrades(server, each);
        return server;
      },
      listen: (server, at) => server.listen(0, '127.0.0.1', () => at(urlOf(server, 'http', '127.0.0.1'))),
    }),
  );

/**
 * A client whose request is read. Where this process stands still for as long as the server is patient, the connection is closed before: then
 * there is another one.
 */
const asking = (url: URL, lines: string, isRead: () => boolean): Promise<Socket> =>
  eventually('a request is read', async () => {
    const socket = await client(url);
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\n${lines}\r\n`);
    await eventually('its request is read, or it is closed', () => isRead() || socket.closed);
    return isRead() && socket;
  });

const UPGRADE = 'Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\n';

describe('a connection over which no byte passes', () => {
  it.each([
    ['a request', ''],
    ['an upgrade that is refused', UPGRADE],
  ])('is closed while the reply to %s waits for its reader', async (_, lines) => {
    const size = 64 * 1024 * 1024;
    const seen: string[] = [];
    const url = await impatient((__, response) => {
      seen.push('read');
      response.on('close', () => seen.push('closed')).end(Buffer.alloc(size));
    });
    const socket = await asking(url, lines, () => seen.length > 0);
    await eventually('it is closed', () => seen.includes('closed'));
    expect(socket.bytesRead).toBeGreaterThan(0);
    expect(socket.bytesRead).toBeLessThan(size);
  });

  it('stays open if a stream has taken it over', async () => {
    const taken: (number | undefined)[] = [];
    const url = await impatient((_, response) => {
      if (!(response instanceof UpgradeResponse)) throw new Error('expected an upgrade');
      taken.push(response.open.timeout, response.takeOver().timeout);
      response.open.end();
    });
    const socket = await asking(url, UPGRADE, () => taken.length > 0);
    socket.resume();
    await eventually('it is closed', () => socket.closed);
    expect(taken).toEqual([50, 0]);
  });
});

/** A timer of Node: its time in milliseconds. */
interface Timer {
  readonly _idleTimeout: number;
}

describe('the time without a byte', () => {
  const times = new Set<number>();
  const hook = createHook({
    init: (_, type, __, timer) => {
      if (type === 'Timeout') times.add((timer as Timer)._idleTimeout);
    },
  });
  afterEach(() => {
    hook.disable();
    times.clear();
  });

  const { registry, countRequests } = createMetrics({ nodeName: 'n1', version: '0.1.0' });
  const common = { address: '127.0.0.1', port: 0, healthChecks: {}, names: [] };

  it.each([
    ['the health port', () => healthServer(common)],
    ['the read-only port', () => readOnlyServer({ ...common, pods: () => [], metrics: registry, countRequests })],
  ])('is 90 s at %s', async (_, server) => {
    const url = await listening(server());
    hook.enable();
    await client(url);
    await eventually('the connection has its time', () => times.has(90_000));
    expect(times).not.toContain(14_400_000);
  });

  it('is 4 h at the port of the kubelet API', async () => {
    const stage = new KubeletStage();
    ends.push(() => stage.dispose());
    stage.furnish();
    await stage.start();
    hook.enable();
    await tlsClient(stage.url);
    await eventually('the connection has its time', () => times.has(14_400_000));
  });
});

describe('beyond half of the connections that a server has', () => {
  it('an idle one is closed when a client connects, and that client and those with requests keep theirs', async () => {
    let held = 0;
    const url = await listening(
      listenOnce({
        mostConnections: 5,
        answer: ({ url: path }, response) => (path === '/held' ? (held += 1) : response.end('here')),
        listen: (server, at) => server.listen(0, '127.0.0.1', () => at(urlOf(server, 'http', '127.0.0.1'))),
      }),
    );
    const ask = (socket: Socket, path: string): void => void socket.write(`GET ${path} HTTP/1.1\r\nHost: h\r\n\r\n`);
    const answered = async (): Promise<Socket> => {
      const socket = await client(url);
      ask(socket, '/');
      await once(socket, 'data');
      return socket;
    };
    const busy = [await client(url), await answered()];
    for (const socket of busy) ask(socket, '/held');
    await eventually('both requests are there', () => held === 2);
    const begun = await answered();
    begun.write('GET / HT');
    const idle = await answered();
    const fresh = await client(url);
    for (const socket of [...busy, begun, idle]) socket.resume();
    await eventually('the idle one is closed', () => idle.closed);
    ask(fresh, '/');
    expect(String(await once(fresh, 'data').then(([data]) => data as Buffer))).toMatch(/^HTTP\/1\.1 200 OK/);
    expect([...busy, begun, fresh].map(({ closed }) => closed)).toEqual([false, false, false, false]);
  });
});

describe('the connection of a client that is refused', () => {
  it('is ended, with the requests behind, and that of another client is kept', async () => {
    const stage = new KubeletStage();
    ends.push(() => stage.dispose());
    stage.furnish();
    await stage.start();
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    try {
      const connectionOf = async (token?: string) =>
        (await stage.ask({ path: '/pods', agent, ...(token !== undefined && { token }) })).headers.connection;
      expect(await connectionOf('admin')).toBe('keep-alive');
      expect([await connectionOf(), await connectionOf('wrong'), await connectionOf('guest')]).toEqual(
        Array.from({ length: 3 }, () => 'close'),
      );
    } finally {
      agent.destroy();
    }
    const socket = await tlsClient(stage.url);
    let reply = '';
    socket.setEncoding('latin1').on('data', (part: string) => (reply += part));
    socket.write('GET /pods HTTP/1.1\r\nHost: x\r\n\r\n'.repeat(3));
    await once(socket, 'close');
    expect(reply.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 401']);
  });
});
