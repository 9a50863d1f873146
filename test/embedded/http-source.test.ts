import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import { describe, expect } from 'vitest';
import { alone } from './churn.js';
import { freePort, it } from './daemon.js';
import { eventually } from './eventually.js';
import { manifest, SLEEP } from './manifests.js';

/** A web server with one page, which can be down for a while. */
class Page {
  body = '';
  /** Of every request. */
  readonly headers: IncomingHttpHeaders[] = [];
  private server: Server | undefined;
  private port = 0;

  async up(): Promise<string> {
    this.server = createServer((request, response) => {
      this.headers.push(request.headers);
      response.end(this.body);
    });
    // It stays free while the server is down.
    this.port ||= await freePort();
    this.server.listen(this.port, '127.0.0.1');
    await once(this.server, 'listening');
    return `http://127.0.0.1:${this.port}/pods`;
  }

  down(): void {
    this.server?.close();
    this.server?.closeAllConnections();
  }
}

describe('pods of a URL', () => {
  it('appear, change, vanish, and stay while the server is down', async ({ daemon, onTestFinished }) => {
    const page = new Page();
    onTestFinished(() => page.down());
    page.body = manifest(daemon.directory, alone('a', SLEEP));
    const url = await page.up();
    await daemon.start(
      '--manifest-url',
      url,
      '--manifest-url-header',
      'X-Team: blue',
      '--http-check-frequency',
      '100ms',
    );
    const runs = (...pods: string[]) =>
      eventually(`exactly ${pods.join(', ')} run`, async () => {
        const running = (await daemon.containers()).filter(({ state }) => state === 'CONTAINER_RUNNING');
        expect(running.map(({ pod }) => pod).toSorted()).toEqual(pods.map((pod) => `${pod}-node1`));
        return true;
      });
    await runs('a');
    expect(page.headers[0]).toMatchObject({ 'x-team': 'blue' });
    expect(daemon.log).not.toContain('blue');
    const process = await daemon.processOf('a');

    page.body = `${manifest(daemon.directory, alone('a', SLEEP))}\n---\n${manifest(daemon.directory, { name: 'b' })}`;
    await runs('a', 'b');
    const b = await daemon.processOf('b');

    page.down();
    await eventually('the agent has noticed', () => daemon.log.includes(`${url}: failed to read pods`));
    page.body = `${manifest(daemon.directory, alone('a', SLEEP))}\n---\n${manifest(daemon.directory, { name: 'b', labels: { changed: 'yes' } })}`;
    expect(await daemon.processOf('a')).toEqual(process);
    expect(await daemon.processOf('b')).toEqual(b);

    await page.up();
    await eventually('the agent has noticed', () => daemon.log.includes(`${url}: reading pods works again`));
    await eventually('b is replaced', async () => (await daemon.processOf('b')).pid !== b.pid);
    await runs('a', 'b');

    page.body = 'nonsense: [';
    await eventually('the agent has refused it', () =>
      daemon.logged().some(({ message }) => message.startsWith(`${url}:1:`)),
    );
    await runs('a', 'b');
    expect(await daemon.processOf('a')).toEqual(process);
    expect(daemon.lines('starts-a')).toHaveLength(1);

    page.body = manifest(daemon.directory, { name: 'c' });
    await runs('c');
    expect(daemon.processesOf('a')).toEqual([]);
    page.body = '';
    await runs();
  });
});
