import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { asyncScheduler, type Subscription } from 'rxjs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { answerUpgrades } from '../../../src/server/streaming/answer-upgrades.js';
import { proxyUpgrade } from '../../../src/server/streaming/proxy-upgrade.js';
import { eventually } from '../../embedded/eventually.js';
import { header } from './stream-client.js';
import { ACCEPTED, type Behaviour, echoing, replying, StreamingPeer } from './streaming-peer.js';

const REFUSED = 'HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno';

/** A server that connects each client with the peer. It unsubscribes only at its end. */
class Proxy {
  readonly seen: string[] = [];
  readonly subscriptions: Subscription[] = [];
  readonly clients: Socket[] = [];

  private constructor(
    readonly peer: StreamingPeer,
    private readonly server: Server,
  ) {}

  static async begin(behaviour: Behaviour): Promise<Proxy> {
    const peer = await StreamingPeer.start();
    peer.behaviour = behaviour;
    const server = createServer();
    const proxy = new Proxy(peer, server);
    answerUpgrades(server, (request, response) => {
      const target = new URL(`http://127.0.0.1:${peer.port}/exec/t0ken`);
      const options = { target, request, response, conversion: undefined, scheduler: asyncScheduler };
      const { seen } = proxy;
      proxy.subscriptions.push(
        proxyUpgrade(options).subscribe({
          next: (value) => seen.push(value),
          error: () => seen.push('error'),
          complete: () => seen.push('completed'),
        }),
      );
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return proxy;
  }

  /** A client that has received the beginning of its reply. */
  async connect(): Promise<Socket> {
    const { port } = this.server.address() as AddressInfo;
    const client = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => undefined);
    this.clients.push(client);
    client.write(header('POST', '/exec/d/p/c'));
    await once(client, 'data');
    return client.resume();
  }

  end(): void {
    for (const subscription of this.subscriptions) subscription.unsubscribe();
    for (const client of this.clients) client.destroy();
    this.peer.close();
    this.server.close();
  }
}

describe('the connection of a client with a streaming server', () => {
  let proxy: Proxy | undefined;
  beforeEach(() => (proxy = undefined));
  afterEach(() => proxy?.end());

  const begin = async (behaviour: Behaviour): Promise<Proxy> => (proxy = await Proxy.begin(behaviour));

  it('stays while both sides are open', async () => {
    const proxied = await begin(echoing);
    const client = await proxied.connect();
    client.write('there and back');
    await once(client, 'data');
    expect(proxied.seen).toEqual([]);
    expect(proxied.peer.newest.destroyed).toBe(false);
  });

  it('completes when both sides are closed, which its subscriber need not see to', async () => {
    const proxied = await begin(echoing);
    const client = await proxied.connect();
    client.end();
    await eventually('it completes', () => proxied.seen.includes('completed'));
    expect(proxied.seen).toEqual(['half-closed', 'completed']);
    await eventually('the server sees the end', () => proxied.peer.newest.destroyed);
  });

  it('completes when its server has broken off', async () => {
    const proxied = await begin((socket) => socket.end(`${ACCEPTED}rest`));
    const client = await proxied.connect();
    client.end();
    await eventually('it completes', () => proxied.seen.includes('completed'));
    expect(proxied.seen).toEqual(['half-closed', 'completed']);
  });

  it('completes, and closes the connection to the server, when a refusal was passed on', async () => {
    // The server itself would keep its connection.
    const proxied = await begin(replying(REFUSED));
    const client = await proxied.connect();
    client.end();
    await eventually('it completes', () => proxied.seen.includes('completed'));
    expect(proxied.seen).toEqual(['completed']);
    await eventually('the server sees the end', () => proxied.peer.newest.destroyed);
  });
});
